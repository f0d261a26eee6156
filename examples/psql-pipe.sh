#!/usr/bin/env bash
# From one table into another, through a pipe:  DATABASE_URL=postgres://… psql-pipe.sh
# A pipe cannot be read again: with --state the run can still be resumed once its input was read.
set -euo pipefail

psql "$DATABASE_URL" --quiet --command "
  CREATE TABLE IF NOT EXISTS contacts_checked (
    id integer PRIMARY KEY, email text,
    email_verification text, email_reason text, email_valid boolean, email_wrong boolean,
    email_unknown boolean, email_quality text, email_result text, email_is_syntax_error boolean,
    email_is_free boolean, email_is_role boolean, email_is_disposable boolean,
    email_is_catch_all boolean)"

psql "$DATABASE_URL" --quiet --command "COPY (SELECT id, email FROM contacts ORDER BY id) TO STDOUT (FORMAT csv, HEADER)" |
  sluice verify - --email email --country US --state contacts.sluice "$@" |
  psql "$DATABASE_URL" --quiet --command "COPY contacts_checked FROM STDIN (FORMAT csv, HEADER)"
