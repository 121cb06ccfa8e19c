"""Recovery by training: with n texts, one mask each, the error of the learned weights falls like 1/√(n π₀).

Reference law (64 sites, gap 0.3, weight 0.3), a share π₀ of the masks hides everything, 20,000 texts a run, witness
learner (momentum SGD on the token loss), 40 seeds.

    python examples/learning_recovery.py --out results
"""

from __future__ import annotations

from _output import write

from maskov.learning import learn
from maskov.plots.learning import plot_recovery

LAW = "product?sites=64&gap=0.3&weight=0.3"
MASSES = ["0.003", "0.01", "0.03", "0.1", "0.3"]
SEEDS, SAMPLES = 40, 20_000


def main() -> None:
    """Five masses, forty seeds."""
    specs = [f"{1 - float(mass):g}*fixed:0.15+{mass}*full" for mass in MASSES]
    record = learn(LAW, specs, seeds=SEEDS, samples=SAMPLES).to_dict()
    write("learning_recovery", plot_recovery(record), {"law": LAW, "schedules": specs, "seeds": SEEDS}, record)


if __name__ == "__main__":
    main()
