"""Names of label sources, as stored in `observations.label_model`.

`3b86f8ce6e20` is the model of all five dimensions. `~scope:77ab01c2d3e4` behind it: another model gave that one.
`+phase,scope` at the end: a person decided these, and nothing but the person changes them. Empty: nobody gave any;
nothing before the `~`: nobody gave the others yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from capture.labels import DIMENSIONS


@dataclass(slots=True)
class Origin:
    """Who gave each dimension; `own` are the person's."""

    base: str = ""
    others: dict[str, str] = field(default_factory=dict)
    """Dimension -> model, where it is not `base`."""
    own: set[str] = field(default_factory=set)

    def of(self, dimension: str) -> str:
        """The model behind a dimension; where a person decided, the one that would speak otherwise."""
        return self.others.get(dimension, self.base)

    def give(self, dimension: str, model: str) -> None:
        """A model has given this dimension now."""
        self.others[dimension] = model
        left = {name: self.of(name) for name in DIMENSIONS if name not in self.own}
        givers = set(left.values())
        if len(givers) == 1:
            self.base, self.others = givers.pop(), {}
        elif not self.base and "" not in givers:
            self.base, self.others = model, {name: giver for name, giver in left.items() if giver != model}

    def text(self) -> str | None:
        """As it is stored."""
        others = [f"{name}:{self.others[name]}" for name in DIMENSIONS
                  if name in self.others and name not in self.own and self.others[name] != self.base]  # fmt: skip
        own = [name for name in DIMENSIONS if name in self.own]
        said = self.base + ("~" + ",".join(others) if others else "") + ("+" + ",".join(own) if own else "")
        return said or None


def read(text: str | None) -> Origin:
    """What a row says; what is no dimension is passed over."""
    models, _, own = (text or "").partition("+")
    base, _, others = models.partition("~")
    pairs = (each.partition(":") for each in others.split(",") if others)
    known = {name: model for name, _, model in pairs if name in DIMENSIONS}
    return Origin(base, known, {name for name in own.split(",") if name in DIMENSIONS})
