"""Recovery: a little mass at low visibility brings the weights back, with an error of order sqrt(ε/π_s).

Reference law (400 sites, gap 0.2, weight 0.3), a share π of the masks shows 4 sites only: the weight error that an
excess loss ε
allows, exact in the witness family, under its low-visibility upper bound.

    python examples/recovery.py --out results
"""

from __future__ import annotations

from _output import write

from maskov.identifiability import identify
from maskov.plots.style import COLOURS, axes

LAW = "product?sites=400&gap=0.2&weight=0.3"
SHARES = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3]
EPSILONS = [1e-6, 1e-5, 1e-4]


def main() -> None:
    """One identification a share."""
    specs = [f"{1 - share!r}*fixed:0.15+{share!r}*visible:4" for share in SHARES]
    rows = [identify(LAW, spec, epsilons=EPSILONS).to_dict() for spec in specs]
    ax = axes()
    for k, epsilon in enumerate(EPSILONS):
        error = [row["modulus"][k]["lower_weights"]["value"] for row in rows]
        bound = [row["modulus"][k]["upper_weights"]["value"] for row in rows]
        ax.loglog(SHARES, error, "os^"[k] + "-", color=COLOURS[k], label=f"weight error at ε = {epsilon:g}")
        ax.loglog(SHARES, bound, "--", color=COLOURS[k], label="its low-visibility bound")
    ax.set_xlabel("π, share of masks that show 4 of 400 sites")
    ax.set_ylabel("total variation of the mode weights")
    ax.legend(frameon=False, fontsize="small")
    write("recovery", ax, {"law": LAW, "schedules": specs, "epsilons": EPSILONS}, {"rows": rows})


if __name__ == "__main__":
    main()
