"""Stacks: references, the axis table and its rules, operations, and targets."""
