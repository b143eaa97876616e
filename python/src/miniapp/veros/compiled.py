"""JAX's compiled functions of a whole state, which take all variables: those that one does not use are not made."""

from __future__ import annotations

import jax
from jax.interpreters import partial_eval
from veros.routines import VerosKernel
from veros.state import VerosState, veros_variables_pytree_flatten, veros_variables_pytree_unflatten

from . import OCEANS
from .ocean import LazyVariables

UNUSED = {}  # by a function, with these settings and arguments


def call(self, *args, plain=VerosKernel.__call__, **kwargs):
    bound = self.func_sig.bind(*args, **kwargs)
    bound.apply_defaults()
    given = list(bound.arguments.values())
    state = next((value for value in given if isinstance(value, VerosState) and value in OCEANS), None)
    if state is None:
        return plain(self, *args, **kwargs)
    key = (self.name, tuple(state.settings.items()), *(given[place] for place in self.static_argnums))
    if key not in UNUSED:
        UNUSED[key] = unused(self, given, state)
    ocean = OCEANS[state]
    ocean.unwanted = UNUSED[key]
    try:
        return plain(self, *args, **kwargs)
    finally:
        ocean.unwanted = frozenset()


def unused(kernel, given, state):
    """The variables of the state on which no result depends."""
    with state.variables.unlock():
        traced = jax.make_jaxpr(kernel.__wrapped__, static_argnums=kernel.static_argnums)(*given).jaxpr
    _, is_used = partial_eval.dce_jaxpr(traced, [True] * len(traced.outvars))
    before = [value for place, value in enumerate(given[:given.index(state)]) if place not in kernel.static_argnums]
    first = len(jax.tree_util.tree_leaves(before))
    names = state.variables.fields()
    return frozenset(name for name, used in zip(names, is_used[first:]) if not used)


jax.tree_util.register_pytree_node(LazyVariables, veros_variables_pytree_flatten, veros_variables_pytree_unflatten)
VerosKernel.__call__ = call
