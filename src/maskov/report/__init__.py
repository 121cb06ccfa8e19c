"""Records (JSON) and pages (HTML) of results."""

from maskov.report.record import make_record, read_record, validate, write_record

__all__ = ["make_record", "read_record", "validate", "write_record"]
