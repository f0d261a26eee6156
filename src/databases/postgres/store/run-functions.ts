/** What a process asks of a run as a whole. Each function is one transaction of one call. */
export const runFunctions = `
-- What was written down is on the disk when the call returns, whatever the server's default is.
create function {schema}.durably() returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') <> 'remote_apply' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end $$;

-- Says the log of the database from that of another, and from itself after a failover or a restore to a
-- point in time. Where the role may not ask, only the journal's numbers tell.
create function {schema}.timeline() returns text language plpgsql as $$
begin
  return (select system_identifier from pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
exception when insufficient_privilege or undefined_function or feature_not_supported then
  return '';
end $$;

-- Whether there may be something to do for the run: it was begun, and is not at its end.
create function {schema}.is_open(p_run text) returns boolean language sql as $$
  select exists (select from {schema}.journal where run = p_run)
    and not exists (select from {schema}.batch where run = p_run and batch = 'output' and ended)
$$;

-- Why a process may not go on with what it knows; null where it may. p_seen is the number of the latest
-- entry that it has heard of. Under p_locks others write nothing of the run until the transaction ends:
-- so entries are seen in the order of their numbers.
create function {schema}.refusal(p_run text, p_life uuid, p_timeline text, p_seen bigint, p_locks boolean)
returns text language plpgsql as $$
declare
  v_life uuid;
begin
  if p_locks then
    select life into v_life from {schema}.run where run = p_run for no key update;
  else
    select life into v_life from {schema}.run where run = p_run;
  end if;
  if {schema}.timeline() <> p_timeline then
    return 'restored';
  end if;
  if v_life is distinct from p_life then
    return 'gone';
  end if;
  if p_seen > (select coalesce(max(seq), 0) from {schema}.journal where run = p_run) then
    return 'restored';
  end if;
  return null;
end $$;

create function {schema}.news(p_run text, p_after bigint) returns json language sql as $$
  select json_build_object(
    'entries', coalesce(json_agg(json_build_object('seq', seq, 'entry', entry) order by seq), '[]'),
    'more', count(*) = 2000)
  from (
    select seq, entry from {schema}.journal where run = p_run and seq > p_after order by seq limit 2000
  ) as later
$$;

create function {schema}.open(p_run text) returns json language plpgsql as $$
begin
  perform {schema}.durably();
  insert into {schema}.run (run) values (p_run) on conflict do nothing;
  return (
    select json_build_object('life', life, 'timeline', {schema}.timeline())
    from {schema}.run where run = p_run);
end $$;

-- The first that begins the run says what it is.
create function {schema}.begin(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid, p_call bigint, p_entry json,
  p_plan json)
returns json language plpgsql as $$
declare
  v_refused text;
begin
  perform {schema}.durably();
  v_refused := {schema}.refusal(p_run, p_life, p_timeline, p_seen, true);
  if v_refused is not null then
    return json_build_object('refused', v_refused);
  end if;
  if not exists (select from {schema}.journal where run = p_run) then
    insert into {schema}.journal (run, owner, call, entry) values (p_run, p_owner, p_call, p_entry);
    insert into {schema}.journal (run, owner, call, entry) values (p_run, p_owner, p_call, p_plan);
  end if;
  return json_build_object('news', {schema}.news(p_run, p_seen));
end $$;

create function {schema}.append(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid, p_call bigint, p_entry json)
returns json language plpgsql as $$
declare
  v_refused text;
begin
  perform {schema}.durably();
  v_refused := {schema}.refusal(p_run, p_life, p_timeline, p_seen, true);
  if v_refused is not null then
    return json_build_object('refused', v_refused);
  end if;
  insert into {schema}.journal (run, owner, call, entry)
  select p_run, p_owner, p_call, p_entry
  where not exists (
    select from {schema}.journal where run = p_run and owner = p_owner and call = p_call);
  return '{}';
end $$;

-- A sign of life. It need not outlast a crash: a lease that is shorter than meant does no harm.
create function {schema}.beat(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid, p_lease_ms bigint,
  p_batches text[], p_epochs bigint[], p_host text)
returns json language plpgsql as $$
declare
  v_refused text;
  v_held text[];
begin
  perform set_config('synchronous_commit', 'off', true);
  v_refused := {schema}.refusal(p_run, p_life, p_timeline, p_seen, false);
  if v_refused is not null then
    return json_build_object('refused', v_refused);
  end if;
  with held as (
    select b.batch
    from unnest(p_batches, p_epochs) as t(batch, epoch)
    join {schema}.batch b on b.batch = t.batch and b.epoch = t.epoch
    where b.run = p_run and b.owner = p_owner
    order by b.batch
    for update of b
  ), renewed as (
    update {schema}.batch b
    set lease_until = clock_timestamp() + p_lease_ms * interval '1 ms'
    from held where b.run = p_run and b.batch = held.batch
    returning b.batch
  )
  select coalesce(array_agg(batch), '{}') into v_held from renewed;
  insert into {schema}.worker (run, worker, host) values (p_run, p_owner, p_host)
  on conflict (run, worker) do update set beat_at = clock_timestamp();
  return json_build_object(
    'held', to_json(v_held),
    'mayClaim', {schema}.is_open(p_run) and exists (
      select from {schema}.batch
      where run = p_run and not ended and (owner is null or lease_until <= clock_timestamp())),
    'news', {schema}.news(p_run, p_seen));
end $$;

create function {schema}.release(p_run text, p_owner uuid) returns json language plpgsql as $$
begin
  perform {schema}.durably();
  with held as (
    select batch from {schema}.batch where run = p_run and owner = p_owner order by batch for update
  )
  update {schema}.batch b set owner = null, lease_until = null
  from held where b.run = p_run and b.batch = held.batch;
  delete from {schema}.worker where run = p_run and worker = p_owner;
  return '{}';
end $$;

-- What is left says which run it was, and how it ended: whoever comes late has nothing to claim. The end
-- has a new number, so that none is missed of those that others have heard of.
create function {schema}.clear(p_run text, p_life uuid) returns json language plpgsql as $$
declare
  v_end {schema}.journal;
begin
  perform {schema}.durably();
  perform from {schema}.run where run = p_run and life = p_life for no key update;
  if not found then
    return '{}';
  end if;
  select * into v_end from {schema}.journal
  where run = p_run and batch = 'output' order by seq desc limit 1;
  delete from {schema}.journal
  where run = p_run and seq > (select min(seq) from {schema}.journal where run = p_run);
  if v_end.seq is not null then
    insert into {schema}.journal (run, batch, epoch, owner, call, entry)
    values (p_run, v_end.batch, v_end.epoch, v_end.owner, v_end.call, v_end.entry);
  end if;
  delete from {schema}.batch where run = p_run and batch <> 'output';
  delete from {schema}.budget where run = p_run;
  return '{}';
end $$;

create function {schema}.drop_run(p_run text, p_life uuid) returns json language plpgsql as $$
begin
  perform {schema}.durably();
  delete from {schema}.run where run = p_run and life = p_life;
  return '{}';
end $$;
`;
