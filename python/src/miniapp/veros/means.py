"""The sums of Veros's means over time. The kernels keep them, too, until somebody reads them."""

from __future__ import annotations

import numpy as np
from veros import runtime_settings
from veros.core.operators import numpy as npx
from veros.diagnostics.averages import Averages

from . import OCEANS
from .ocean import LazyVariables, in_order


def increased(sums, values):
    """Veros's sums and values: in place, unless they are JAX's."""
    if not isinstance(sums, np.ndarray):
        return sums + values
    if not (sums.flags.f_contiguous and sums.flags.writeable):
        sums = np.array(sums, order="F")
    np.add(sums, values, out=sums, casting="unsafe")  # sums of masks are masks, as Veros's are
    return sums


class Means:
    """The kernels' sums in the place of Veros's.

    A variable with time levels still has its values of one sample in the next step, a level older: one pass then adds
    both. Until then, the first is `owed`, in the field that this names."""

    unwanted = frozenset()  # by compiled functions

    def __init__(self, ocean, sums):
        self.ocean, self.sums, self.number = ocean, sums, len(ocean.means)
        self.pending, self.owed = set(), {}
        ocean.means.append(self)
        LazyVariables.let_keep(self, sums)

    def field(self, variable):
        return self.ocean.added(f"{variable}@sum{self.number}", variable)

    def add(self, variable, may_wait) -> None:
        ocean = self.ocean
        if not self.is_kept(variable):
            setattr(self.sums, variable, increased(getattr(self.sums, variable), ocean.now(variable).T))
            return
        if variable not in self.pending:
            self.owed.pop(variable, None)
            ocean.state.write(self.field(variable))[...] = in_order(vars(self.sums).pop(variable))
            self.pending.add(variable)
        if variable in self.owed:
            ocean.state.add_up(self.field(variable), self.owed.pop(variable), variable)
        elif may_wait and len(ocean.fields[variable]) > 1:
            self.owed[variable] = variable
        else:
            ocean.state.add_up(self.field(variable), variable)

    def is_kept(self, variable) -> bool:
        """Whether the library can add it up."""
        if not self.ocean.holds(variable):
            return False
        field = self.ocean.state.field(variable)
        return field.type.is_real and "x" in field.axes

    def settle(self, variable) -> None:
        """Adds what is owed, which is about to change."""
        field = self.owed.pop(variable, None)
        if field and variable in self.pending:
            self.ocean.state.add_up(self.field(variable), field)

    def follow(self, is_next) -> None:
        """A step begins: what is owed is a level older in the next one. All else that is owed would be lost."""
        for variable, field in list(self.owed.items()):
            if is_next and field == variable:
                self.owed[variable] = self.ocean.fields[variable][0]
            else:
                self.settle(variable)

    def fetch(self, variable):
        """Gives Veros a sum."""
        with self.ocean.lock:
            if variable not in vars(self.sums):
                self.settle(variable)
                sums = self.ocean.state.read(self.field(variable)).T
                vars(self.sums)[variable] = npx.array(sums, runtime_settings.float_type)
                self.pending.discard(variable)
            return vars(self.sums)[variable]


def add_to_means(self, state, plain=Averages.diagnose) -> None:
    """Does as Veros's Averages.diagnose does; every other step has the work of two for half of the variables."""
    if state not in OCEANS:
        plain(self, state)
        return
    sums = self.variables
    sums.average_nitts = sums.average_nitts + 1
    means = vars(sums).get("_keeper") or Means(OCEANS[state], sums)
    for place, variable in enumerate(self.output_variables):
        means.add(variable, may_wait=(place + int(sums.average_nitts)) % 2 == 0)


Averages.diagnose = add_to_means
