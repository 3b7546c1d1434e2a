"""The parts of a syntax tree that a statement may be made of, by the names of sqlglot's classes.

Functions are not here: they are allowed by the name they are called by (`functions`).
"""

READ_ROOTS = frozenset({"select", "with", "values", "table"})
WRITE_ROOTS = frozenset({"insert", "update", "delete", "with"})

_NODES = """
Add Adjacent Alias Aliases All And Any AtTimeZone Between BitString BitwiseAnd BitwiseLeftShift
BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor Boolean Bracket Case Cast Collate Column CTE Cube
DataType DataTypeParam Distance Distinct Div Dot DPipe EQ Escape Except Exists ExtendsLeft
ExtendsRight Fetch Filter From FromTimeZone Glob Group GroupingSets GT GTE Having HexString
Identifier If IgnoreNulls ILike In IntDiv Intersect Interval IntervalOp IntervalSpan Is Join
JSONPath JSONPathKey JSONPathRecursive JSONPathRoot JSONPathSelector JSONPathSlice
JSONPathSubscript JSONPathUnion JSONPathWildcard JSONKeyValue Kwarg Lateral Like Limit LimitOptions
Literal LT LTE Match Mod Mul Neg NEQ Not Null NullSafeEQ NullSafeNEQ Offset OnCondition Or
Order Ordered Overlaps Parameter Paren Placeholder RespectNulls Rollup Select SimilarTo Slice Star
Sub Subquery Table TableAlias TableSample Tuple Union Values Var Variadic Where Window WindowSpec
With WithinGroup
"""
READ_NODES = frozenset(_NODES.split())

WRITE_NODES = READ_NODES | frozenset(
    {"Insert", "Update", "Delete", "OnConflict", "Returning", "Schema"}
)
