#!/usr/bin/env bash
# From one table into another, through a pipe, as often as you like:  DATABASE_URL=postgres://… psql-pipe.sh
# A pipe cannot be read again: with --state the run can still be resumed once its input was read. When the last
# psql fails, Sluice may have ended, and its state directory is gone: the history keeps what was paid.
set -euo pipefail
if [ -z "${DATABASE_URL:-}" ]; then
  echo 'usage: DATABASE_URL=postgres://… psql-pipe.sh [OPTION...]' >&2
  exit 2
fi

psql "$DATABASE_URL" --quiet --command "
  SET client_min_messages = warning;
  CREATE TABLE IF NOT EXISTS contacts_checked (
    id integer PRIMARY KEY, email text,
    email_verification text, email_reason text, email_valid boolean, email_wrong boolean,
    email_unknown boolean, email_quality text, email_result text, email_is_syntax_error boolean,
    email_is_free boolean, email_is_role boolean, email_is_disposable boolean,
    email_is_catch_all boolean)"

psql "$DATABASE_URL" --quiet --command "COPY (SELECT id, email FROM contacts ORDER BY id) TO STDOUT (FORMAT csv, HEADER)" |
  sluice verify - --email email --country US --state contacts.sluice --history contacts.history \
    --min-rows 1 --max-shrink 50 "$@" |
  psql "$DATABASE_URL" --quiet --set ON_ERROR_STOP=1 --single-transaction \
    --command "CREATE TEMPORARY TABLE staging (LIKE contacts_checked)" \
    --command "COPY staging FROM STDIN (FORMAT csv, HEADER)" \
    --command "
  INSERT INTO contacts_checked SELECT * FROM staging
  ON CONFLICT (id) DO UPDATE SET
    (email, email_verification, email_reason, email_valid, email_wrong, email_unknown, email_quality,
     email_result, email_is_syntax_error, email_is_free, email_is_role, email_is_disposable,
     email_is_catch_all) =
    (excluded.email, excluded.email_verification, excluded.email_reason, excluded.email_valid,
     excluded.email_wrong, excluded.email_unknown, excluded.email_quality, excluded.email_result,
     excluded.email_is_syntax_error, excluded.email_is_free, excluded.email_is_role,
     excluded.email_is_disposable, excluded.email_is_catch_all)"
