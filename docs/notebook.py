# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # maskov in a notebook
#
# A law first, where the right answers are known; then the bundled English model, by the same calls. The whole takes
# half a minute.
# Open this file with jupytext, or turn it into a notebook: `jupytext --to ipynb notebook.py`.

# %%
# ruff: noqa: B018
import arviz_stats as az

import maskov as mk

# %% [markdown]
# ## A law
#
# Twelve spins that like to agree. Chains start in both corners, at two temperatures.

# %%
model = mk.load("law:curie-weiss?sites=12&beta=0.5")
trace = mk.glauber(model, ["0" * 12, "1" * 12], temperature=[0.6, 1.5], steps=14_400, chains=4, window=12, seed=0)
trace

# %% [markdown]
# Any state of any chain can be read back, and the series of the run are a frame: one row per window and chain.

# %%
print(model.decode(trace.state(chain=5, step=14_400)))
frame = trace.to_dataframe()
frame.groupby("temperature")[["changed", "entropy", "production"]].mean()

# %% [markdown]
# A result is a frozen value. The last line of a cell shows it; `.plot()` draws it, `.to_dataframe()` is its table,
# `.to_dict()` its record. Every number says how it was obtained, and so does the frame: a quantity has three columns,
# value, standard error and kind. Curie–Weiss has a joint law, so its σ is 0, and the estimates should be within two
# or three of their errors of it.

# %%
entropy = mk.entropy_production(trace)
entropy

# %%
entropy.to_dataframe()[["temperature", "production", "production_stderr", "production_kind"]]

# %%
meeting = mk.meeting_times(model, coupling="uniform", n_pairs=40, temperatures=[0.6, 1.5])
meeting.plot()
meeting

# %% [markdown]
# ## Did the chains mix?

# %%
diagnosis = mk.diagnose(trace)
diagnosis

# %% [markdown]
# `maskov.diagnose` compares chains of one law only, and gives a verdict. For a look of your own the trace is an xarray
# Dataset, which ArviZ takes once windows are called draws. Temperatures are different laws: select one before
# comparing chains, and leave the first part of the run out.

# %%
data = trace.to_xarray()
warm = data.isel(chain=data.temperature.values == 1.5).rename(window="draw")
summary = az.summary(warm[["changed", "entropy"]].isel(draw=slice(300, None)))
summary

# %% [markdown]
# ## A network
#
# The bundled English model, on two of the bundled passages.

# %%
network = mk.load("en-tiny")
texts = mk.passages("food")[:2]
run = mk.glauber(network, texts, temperature=[0.5, 1.0], steps=400, seed=0)
for step in (0, 100, 400):
    print(step, network.decode(run.state(chain=2, step=step))[:110])

# %%
rectangles = mk.rectangle_test(network, texts, rectangles=24)
rectangles.plot()
rectangles

# %%
rectangles.to_dataframe("by_distance").head()

# %% [markdown]
# ## A schedule
#
# Half of the package needs no network at all: what can masked prediction under a schedule know of the weights of a
# mixture?

# %%
found = mk.identify("product?sites=64&gap=0.3&weight=0.3", mk.schedule("0.95*fixed:0.15+0.05*full"), against=0.5)
found.plot()
found
