"""The whole study of a model: plan, studies, and the folder that they fill."""

from maskov.audit.folder import AuditFolder
from maskov.audit.plan import BUDGETS, Plan, make_plan
from maskov.audit.run import audit
from maskov.audit.setting import Setting
from maskov.audit.studies import STUDIES, Study

__all__ = ["BUDGETS", "STUDIES", "AuditFolder", "Plan", "Setting", "Study", "audit", "make_plan"]
