"""Code against prose: how fast do visible words tell a Python module from an English text?

The standard library of this interpreter against Wikipedia leads (the bundled passages without their package), by
naive Bayes on single words, so that it takes seconds; docs/log.md has the full study.

    python examples/corpus_code_prose.py --out results
"""

from __future__ import annotations

from _corpora import english_prose, standard_library
from _output import write

from maskov.corpora import corpus_uncertainty

SCHEDULES = ["bert", "mae", "uniform", "0.95*bert+0.05*full"]


def main() -> None:
    """One quick study."""
    texts = {"code": standard_library(), "prose": english_prose()}
    found = corpus_uncertainty(texts, classifiers=["unigram"], schedules=SCHEDULES, length=512)
    print(found)
    write("corpus_code_prose", found.plot(), {"tokenizer": "words", "seed": 0}, found.to_dict())


if __name__ == "__main__":
    main()
