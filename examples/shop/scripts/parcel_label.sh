#!/bin/sh
# /// tool
# description: Draw the label of a parcel, as the printer in the store room prints it.
# effect: read
# capabilities: [parcel_label]
# input: template
# arguments: ["{order_id}", "{name}", "{city}"]
# output: text
# exit_codes: {65: invalid}
# show_stderr: true
# timeout: 10
# input_schema:
#   type: object
#   properties:
#     order_id: {type: integer, minimum: 1}
#     name: {type: string, minLength: 1, maxLength: 24}
#     city: {type: string, minLength: 1, maxLength: 24}
#   required: [order_id, name, city]
# ///
set -eu
case "$3" in
    *[0-9]*) echo "A city has no digits." >&2; exit 65 ;;
esac
line() { printf '| %-28s |\n' "$1"; }
printf '+------------------------------+\n'
line "order $1"
line "$2"
line "$3"
printf '+------------------------------+\n'
