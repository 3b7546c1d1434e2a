"""The functions and the syntax that a statement may use.

The functions are those that only compute, by name. A list of harmful functions could not be
complete: PostgreSQL alone has 3,000 functions, some of which read files, settings and other
databases, and every extension adds more. A function that is not in the list is refused by name, and
the operator may add it (`allow_functions`).

The syntax is listed by the names of sqlglot's node classes. Functions are not among the nodes.
"""

from typing import get_args

from pegboard.sources.sql.lexer import Dialect, OtherDialect

_BOTH = """
abs acos acosh asin asinh atan atan2 atanh avg cast ceil ceiling char char_length coalesce concat
concat_ws cos cosh count cume_dist current_date current_time current_timestamp date degrees
dense_rank exp extract first_value floor format grouping initcap lag last_value lead left length
ln log log10 log2 lower lpad ltrim max min mod now nth_value ntile nullif octet_length overlay pi
percent_rank position pow power radians random rank repeat replace reverse right round row_number
rpad rtrim sign sin sinh sqrt strpos substr substring sum tan tanh time trim trunc upper
bigint bit blob bool boolean bytea dec decimal double float int integer nchar numeric nvarchar real
smallint text timestamp tinyint varchar character datetime clob
"""

_SQLITE = """
glob group_concat hex ifnull iif instr json json_array json_array_length json_each
json_error_position json_extract json_group_array json_group_object json_insert json_object
json_patch json_pretty json_quote json_remove json_replace json_set json_tree json_type json_valid
julianday like likelihood likely quote printf randomblob regexp sqlite_version soundex strftime
string_agg timediff total typeof unhex unicode unixepoch unlikely zeroblob -> ->>
bm25 highlight match snippet offsets matchinfo
"""

_POSTGRESQL = """
age any_value array_agg array_append array_cat array_dims array_fill array_length array_lower
array_ndims array_position array_positions array_prepend array_remove array_replace array_reverse
array_sample array_shuffle array_sort array_to_json array_to_string array_upper ascii bit_and
bit_count bit_length bit_or bit_xor bool_and bool_or bpchar broadcast btrim
cardinality casefold cbrt character_length chr clock_timestamp convert_from convert_to corr cot
covar_pop covar_samp crc32 crc32c current_catalog current_role current_schema current_user
date_add date_bin date_part date_subtract date_trunc decode div encode every factorial family
float4 float8 gamma gcd generate_series generate_subscripts get_bit get_byte greatest host hostmask
int2 int4 int8 isempty isfinite json_agg json_agg_strict json_array json_array_elements
json_array_elements_text json_array_length json_arrayagg json_build_array json_build_object
json_each json_each_text json_exists json_extract_path json_extract_path_text json_object
json_object_agg json_object_agg_strict json_object_agg_unique json_object_keys json_objectagg
json_populate_record json_populate_recordset json_query json_scalar json_serialize
json_strip_nulls json_to_record json_to_recordset json_typeof json_value jsonb_agg
jsonb_agg_strict jsonb_array_elements jsonb_array_elements_text jsonb_array_length
jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text jsonb_exists jsonb_exists_all
jsonb_exists_any jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object
jsonb_object_agg jsonb_object_agg_strict jsonb_object_keys jsonb_path_exists jsonb_path_match
jsonb_path_query jsonb_path_query_array jsonb_path_query_first jsonb_populate_record
jsonb_populate_recordset jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record
jsonb_to_recordset jsonb_typeof json jsonb justify_days justify_hours justify_interval
lcm least lgamma localtime localtimestamp lower_inc lower_inf make_date make_interval make_time
make_timestamp make_timestamptz masklen md5 merge_action min_scale mode multirange netmask
network normalize num_nonnulls num_nulls numnode parse_ident percentile_cont percentile_disc
phraseto_tsquery plainto_tsquery quote_ident quote_literal quote_nullable random_normal
range_agg range_intersect_agg range_merge regexp_count regexp_instr regexp_like regexp_match
regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr regr_avgx
regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy row_to_json scale
session_user set_bit set_byte set_masklen setweight sha224 sha256 sha384 sha512 similarity
similar_to_escape split_part starts_with statement_timestamp stddev stddev_pop stddev_samp
string_agg string_to_array string_to_table strip timeofday timestamptz timetz timezone to_ascii
to_bin to_char to_date to_hex to_json to_jsonb to_number to_oct to_timestamp to_tsquery to_tsvector
transaction_timestamp translate trim_array trim_scale ts_delete ts_filter ts_headline ts_rank
ts_rank_cd tsquery_phrase tsvector_to_array unaccent unicode_assigned unistr unnest upper_inc
upper_inf uuid uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 gen_random_uuid var_pop
var_samp variance version websearch_to_tsquery width_bucket word_similarity
daterange datemultirange int4range int4multirange int8range int8multirange numrange nummultirange
tsrange tsmultirange tstzrange tstzmultirange
bit cidr inet interval money varbit row bernoulli system
area box center circle diagonal diameter height isclosed isopen line lseg npoints path pclose point
polygon popen radius slope width
"""

_MYSQL = """
adddate addtime against any_value ascii bin binary bit_and bit_count bit_length bit_or bit_xor
char_length character_length chr conv convert convert_tz cot crc32 curdate curtime date_add
date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear div elt export_set field
find_in_set format from_base64 from_days from_unixtime get_format greatest group_concat hex hour if
ifnull inet_aton inet_ntoa inet6_aton inet6_ntoa insert instr interval is_ipv4 is_ipv6 is_uuid
isnull json_array json_array_append json_array_insert json_arrayagg json_compact json_contains
json_contains_path json_depth json_detailed json_exists json_extract json_insert json_keys
json_length json_loose json_merge_patch json_merge_preserve json_object json_objectagg json_overlaps
json_pretty json_query json_quote json_remove json_replace json_search json_set json_table json_type
json_unquote json_valid json_value last_day lcase least localtime localtimestamp locate log2
make_set makedate maketime match md5 median mediumint microsecond mid minute month monthname
natural_sort_key nvl nvl2 oct ord percentile_cont percentile_disc period_add period_diff quarter
quote rand regexp regexp_instr regexp_like regexp_replace regexp_substr rlike sec_to_time second
separator sha sha1 sha2 signed soundex space std stddev stddev_pop stddev_samp str_to_date strcmp
subdate substring_index subtime sysdate time_format time_to_sec timediff timestampadd timestampdiff
to_base64 to_char to_days to_seconds trunc ucase unhex unix_timestamp unsigned utc_date utc_time
utc_timestamp uuid values var_pop var_samp variance week weekday weekofyear weight_string xor year
yearweek st_area st_asgeojson st_astext st_centroid st_contains st_distance st_distance_sphere
st_geomfromtext st_intersects st_length st_within st_x st_y point
"""

_DUCKDB = """
age any_value approx_count_distinct approx_quantile arg_max arg_min argmax argmin array_agg
array_append array_cat array_concat array_contains array_distinct array_extract array_filter
array_has array_has_all array_has_any array_indexof array_intersect array_length array_position
array_prepend array_reverse array_slice array_sort array_to_string array_unique array_value ascii
bar base64 bin bit_and bit_count bit_length bit_or bit_xor bitstring bool_and bool_or btrim
cardinality cbrt century chr contains corr cot count_if countif covar_pop covar_samp
damerau_levenshtein datediff date_add date_diff date_part date_sub date_trunc datepart datesub
datetrunc day dayname dayofmonth dayofweek dayofyear decade editdist3 element_at encode decode
ends_with entropy epoch epoch_ms epoch_ns epoch_us equi_width_bins era even factorial favg first
flatten float4 float8 fmod format_bytes from_base64 from_hex fsum gamma gcd generate_series
generate_subscripts geomean geometric_mean greatest greatest_common_divisor group_concat hamming
hash hex histogram hour hugeint if ifnull instr int1 int2 int4 int8 interval isfinite isinf isnan
isodow isoyear jaccard jaro_similarity jaro_winkler_similarity json json_array json_array_length
json_contains json_each json_exists json_extract json_extract_path json_extract_path_text
json_extract_string json_group_array json_group_object json_keys json_merge_patch json_object
json_pretty json_quote json_structure json_tree json_type json_valid json_value kahan_sum kurtosis
last last_day lcase lcm least least_common_multiple len levenshtein lgamma list list_aggregate
list_any_value list_append list_avg list_cat list_concat list_contains list_count list_distinct
list_element list_extract list_filter list_first list_has list_has_all list_has_any list_indexof
list_intersect list_last list_max list_median list_min list_mode list_position list_prepend
list_product list_reverse list_reverse_sort list_slice list_sort list_sum list_unique list_value
list_zip listagg localtime localtimestamp mad make_date make_time make_timestamp map map_contains
map_entries map_extract map_from_entries map_keys map_values max_by md5 mean median microsecond
millennium millisecond min_by minute mode month monthname multiply nanosecond nfc_normalize ord
parse_filename parse_path prefix printf product quantile quantile_cont quantile_disc quarter range
regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace
regexp_split_to_array regexp_split_to_table regr_avgx regr_avgy regr_count regr_intercept regr_r2
regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile row row_to_json second sem sha1 sha256
signbit skewness split split_part starts_with stddev stddev_pop stddev_samp str_split string_agg
string_split string_split_regex string_to_array strftime strip_accents strlen strptime
struct_extract struct_pack suffix sumkahan time_bucket timestamptz timetz timezone timezone_hour
timezone_minute to_base to_base64 to_binary to_days to_hex to_hours to_json to_microseconds
to_milliseconds to_minutes to_months to_seconds to_timestamp to_weeks to_years today
transaction_timestamp translate trunc try_cast typeof ubigint uhugeint uinteger unbin unhex unicode
unnest usmallint utinyint uuid var_pop var_samp variance week weekday weekofyear width_bucket xor
year yearweek bernoulli reservoir system
"""

_OTHERS = """
add_months any_value approx_count_distinct array_agg ascii charindex chr count_big count_if
datediff dateadd datename datepart date_add date_diff date_part date_sub date_trunc day dayofmonth
dayofweek dayofyear decode eomonth getdate greatest hour if ifnull iff iif initcap instr isnull
json_extract json_extract_scalar json_query json_value last_day lcase least len listagg localtime
localtimestamp md5 median minute month months_between nvl nvl2 patindex percentile_cont
percentile_disc quarter regexp_count regexp_extract regexp_instr regexp_like regexp_replace
regexp_substr safe_cast second sha1 sha256 sha512 split_part square stddev stddev_pop stddev_samp
string_agg stuff substring_index sysdate sysdatetime systimestamp timestampadd timestampdiff
to_char to_date to_number to_timestamp translate try_cast try_convert convert ucase var_pop
var_samp variance week year zeroifnull varchar2 number nvarchar2 clob datetime2 string int64 float64
array
"""

_KEYWORDS = """
all and any array as between by case conflict cross cube distinct else end except exists filter
from full group groups having ilike in inner insert intersect is isnull join key lateral left like
limit materialized not notnull null offset on or order outer over partition range recursive
returning rollup row rows select set sets similar some table then union using values when where
window with within zone
"""
KEYWORDS = frozenset(_KEYWORDS.split())
"""Keywords that may precede a parenthesis without being a function call."""

_ALLOWED: dict[Dialect, frozenset[str]] = {
    "sqlite": frozenset((_BOTH + _SQLITE).split()),
    "postgresql": frozenset((_BOTH + _POSTGRESQL).split()),
    "mysql": frozenset((_BOTH + _MYSQL).split()),
    "duckdb": frozenset((_BOTH + _DUCKDB).split()),
    **{name: frozenset((_BOTH + _OTHERS).split()) for name in get_args(OtherDialect)},
}

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
Order Ordered Overlaps Parameter Paren Placeholder Qualify RespectNulls Rollup Select SimilarTo
Slice Star Sub Subquery Table TableAlias TableSample Tuple Union Values Var Variadic Where Window
WindowSpec With WithinGroup
"""
READ_NODES = frozenset(_NODES.split())

WRITE_NODES = READ_NODES | frozenset(
    {"Insert", "Update", "Delete", "OnConflict", "Returning", "Schema"}
)


def function_names(dialect: Dialect) -> frozenset[str]:
    """The functions that a statement may call, in lower case."""
    return _ALLOWED[dialect]
