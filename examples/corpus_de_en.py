"""German against English: how fast do visible bytes tell the language of a speech?

Speeches of the Bundestag against the House of Commons, by naive Bayes on single bytes; docs/log.md has the full study.
Without the package of the speeches (see _corpora.py) two planted languages stand in: letters drawn with the frequencies
of German and of English text.

    python examples/corpus_de_en.py --out results
"""

from __future__ import annotations

import numpy as np
from _corpora import speeches
from _output import write

from maskov.corpora import corpus_uncertainty

SCHEDULES = ["bert", "mae", "uniform", "0.95*bert+0.05*full"]
# Letters a … z in per mille, rounded from common tables of letter frequencies.
LETTERS = {
    "de": [65, 19, 31, 51, 174, 17, 30, 48, 76, 3, 12, 34, 25, 98, 25, 8, 1, 70, 73, 62, 44, 7, 19, 1, 1, 11],
    "en": [82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 20, 1],
}


def planted(language: str) -> list[str]:
    """400 texts of 600 independent letters."""
    p = np.array(LETTERS[language], dtype=np.float64)
    rng = np.random.Generator(np.random.Philox(sum(map(ord, language))))
    rows = rng.choice(np.arange(97, 123), size=(400, 600), p=p / p.sum())
    return ["".join(map(chr, row)) for row in rows]


def main() -> None:
    """One quick study."""
    texts = {language: speeches(language) or planted(language) for language in ("de", "en")}
    found = corpus_uncertainty(
        texts, tokenizer="bytes", longest=512, classifiers=["unigram"], schedules=SCHEDULES, length=512
    )
    print(found)
    write("corpus_de_en", found.plot(), {"tokenizer": "bytes", "seed": 0}, found.to_dict())


if __name__ == "__main__":
    main()
