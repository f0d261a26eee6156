-- What a process asks of a run as a whole. Each function is one transaction of one call. A process names
-- the run with what it knows of it, and nothing is done for one that may know it wrong.

-- What was written down is on the disk when the call returns, whatever the server's default is.
create function sluice.durably() returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') <> 'remote_apply' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end $$;

-- Says the log of the database from that of another, and from itself after a failover or a restore to a
-- point in time. Where the role may not ask, only the journal's numbers show it.
create function sluice.timeline() returns text language plpgsql as $$
begin
  return (select system_identifier from pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
exception when insufficient_privilege or undefined_function or feature_not_supported then
  return '';
end $$;

-- Which start of the server it is: one that was started again may have been set back to an earlier moment,
-- which its log does not say where its files were put back as they were.
create function sluice.server() returns text language sql as $$
  select extract(epoch from pg_postmaster_start_time())::text
$$;

-- Whether there may be something to do for the run: it was begun, and is not at its end.
create function sluice.is_open(p_run text) returns boolean language sql as $$
  select exists (select from sluice.journal where run = p_run)
    and not exists (select from sluice.batch where run = p_run and batch = 'output' and ended)
$$;

-- Begins a step, and says why a process may not go on with what it knows; null where it may. p_seen is the
-- number of the latest entry that it has seen: it is there, but where the end of the run has dropped it. Under
-- p_locks others write nothing of the run until the transaction ends: so entries are seen in the order of their
-- numbers.
create function sluice.enter(p_run text, p_life uuid, p_timeline text, p_seen bigint, p_locks boolean)
returns json language plpgsql as $$
declare
  v_life uuid;
  v_latest bigint;
begin
  perform sluice.durably();
  if p_locks then
    select life into v_life from sluice.run where run = p_run for no key update;
  else
    -- Nobody removes it in the middle of the step.
    select life into v_life from sluice.run where run = p_run for key share;
  end if;
  if sluice.timeline() <> p_timeline then
    return '{"refused": "restored"}';
  end if;
  if v_life is distinct from p_life then
    if exists (select from sluice.run where run = p_run and p_life = any(replaced)) then
      return '{"refused": "replaced"}';
    end if;
    return '{"refused": "gone"}';
  end if;
  select coalesce(max(seq), 0) into v_latest from sluice.journal where run = p_run;
  if p_seen > v_latest or (
    p_seen > 0 and p_seen < v_latest and sluice.is_open(p_run)
    and not exists (select from sluice.journal where run = p_run and seq = p_seen)) then
    return '{"refused": "restored"}';
  end if;
  return null;
end $$;

-- Nothing of a run that has taken the place of the one that the process has joined.
create function sluice.updates(p_run text, p_life uuid, p_after bigint) returns json language sql as $$
  select json_build_object(
    'entries', coalesce(json_agg(json_build_object('seq', seq, 'entry', entry) order by seq), '[]'),
    'more', count(*) = 2000)
  from (
    select seq, entry from sluice.journal
    where run = p_run and seq > p_after
      and exists (select from sluice.run where run = p_run and life = p_life)
    order by seq limit 2000
  ) as later
$$;

create function sluice.open(p_run text) returns json language plpgsql as $$
begin
  perform sluice.durably();
  insert into sluice.run (run) values (p_run) on conflict do nothing;
  -- What was killed has left its row.
  delete from sluice.worker where beat_at < clock_timestamp() - interval '1 day';
  delete from sluice.pacing where beat_at < clock_timestamp() - interval '1 day';
  return (
    select json_build_object(
      'life', life, 'timeline', sluice.timeline(), 'server', sluice.server(), 'dropped', dropped,
      'salt', (select salt from sluice.salt))
    from sluice.run where run = p_run);
end $$;

-- The first that begins the run says what it is.
create function sluice.begin(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_call bigint, p_entry json, p_plan json)
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, true);
begin
  if v_refused is not null then
    return v_refused;
  end if;
  if not exists (select from sluice.journal where run = p_run) then
    insert into sluice.journal (run, owner, call, entry) values (p_run, p_owner, p_call, p_entry);
    insert into sluice.journal (run, owner, call, entry) values (p_run, p_owner, p_call, p_plan);
  end if;
  delete from sluice.recalled
  where run = p_run and owner = p_owner
    and owner <> (select owner from sluice.journal where run = p_run order by seq limit 1);
  return json_build_object('updates', sluice.updates(p_run, p_life, p_seen));
end $$;

-- Another run takes the place of the one of that name, with the entries of the one before it, p_earlier of
-- them, ahead of its own: where no other process has a batch, or has written of one since p_seen. Who has joined
-- the one before is refused from now on. What that has cost counts for p_most: it is the credits of a row of
-- each type, which nobody claims.
create function sluice.replace(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_entries json[], p_earlier int, p_most numeric, p_types text[], p_spent bigint[])
returns json language plpgsql as $$
declare
  v_refused json;
begin
  -- No step of another process is under way.
  perform from sluice.run where run = p_run for update;
  v_refused := sluice.enter(p_run, p_life, p_timeline, p_seen, true);
  if v_refused is not null then
    return v_refused;
  end if;
  if not sluice.is_open(p_run) or exists (
      select from sluice.journal
      where run = p_run and seq > p_seen and batch is not null and owner <> p_owner)
    or exists (
      select from sluice.batch
      where run = p_run and batch <> 'output' and not ended
        and owner <> p_owner and lease_until > clock_timestamp())
  then
    return '{"lost": true}';
  end if;
  delete from sluice.journal where run = p_run;
  delete from sluice.batch where run = p_run and batch <> 'copy';
  delete from sluice.budget where run = p_run;
  delete from sluice.recalled where run = p_run and owner <> p_owner;
  insert into sluice.journal (run, batch, owner, call, entry)
  select p_run, case when e.place <= p_earlier then 'earlier ' || e.place end, p_owner, 0, e.entry
  from unnest(p_entries) with ordinality as e(entry, place)
  order by e.place;
  insert into sluice.batch (run, batch, type, addresses, ended, spent)
  select p_run, 'earlier ' || s.type, s.type, 0, true, s.spent
  from unnest(p_types, p_spent) as s(type, spent);
  insert into sluice.budget (run, type, credits)
  select p_run, s.type, s.spent from unnest(p_types, p_spent) as s(type, spent);
  perform pg_notify('sluice', p_life::text);
  update sluice.run
  set replaced = replaced || life, life = gen_random_uuid(), most = p_most where run = p_run;
  return '{}';
end $$;

-- The first block takes the place of all that the process has kept before. Once its run is begun, what comes
-- late is dropped: it would stand beside what counts, or in its place. What others keep does not count.
create function sluice.keep_recalled(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_part int, p_bytes bytea)
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, true);
begin
  if v_refused is not null then
    return v_refused;
  end if;
  if p_owner = (select owner from sluice.journal where run = p_run order by seq limit 1) then
    return '{}';
  end if;
  if p_part = 0 then
    delete from sluice.recalled where run = p_run and owner = p_owner;
  end if;
  insert into sluice.recalled (run, owner, part, bytes) values (p_run, p_owner, p_part, p_bytes)
  on conflict (run, owner, part) do update set bytes = excluded.bytes;
  return '{}';
end $$;

-- Some batches of a finished run are to be driven again, where nothing was written of any since p_seen: of
-- all processes that want it the first does it.
create function sluice.reopen(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_call bigint, p_batches text[], p_entries json[], p_spent bigint[], p_reserved bigint[])
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, true);
begin
  if v_refused is not null then
    return v_refused;
  end if;
  if not exists (
      select from sluice.journal where run = p_run and seq > p_seen and batch is not null)
    and exists (select from sluice.batch where run = p_run and batch = 'output' and ended)
  then
    insert into sluice.journal (run, batch, owner, call, entry)
    select p_run, w.batch, p_owner, p_call, w.entry
    from unnest(p_batches, p_entries) with ordinality as w(batch, entry, place)
    order by w.place;
    update sluice.batch b
    set ended = false, owner = null, lease_until = null,
      spent = w.spent, reserved = w.reserved, launched = w.reserved > 0, aside = false
    from unnest(p_batches, p_spent, p_reserved) as w(batch, spent, reserved)
    where b.run = p_run and b.batch = w.batch;
    update sluice.batch set ended = false, owner = null, lease_until = null
    where run = p_run and batch = 'output';
    update sluice.budget g
    set credits = (
      select coalesce(sum(b.spent + b.reserved), 0) from sluice.batch b
      where b.run = p_run and b.type = g.type)
    where g.run = p_run;
  end if;
  return json_build_object('updates', sluice.updates(p_run, p_life, p_seen));
end $$;

-- Where p_limits, launches may come to p_most credits of each type from now on; null: as many as are wanted.
create function sluice.append(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_call bigint, p_entry json, p_resumes boolean, p_limits boolean, p_most numeric)
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, true);
begin
  if v_refused is not null then
    return v_refused;
  end if;
  if p_resumes then
    update sluice.batch set losses = 0 where run = p_run and losses > 0;
  end if;
  if not exists (
    select from sluice.journal where run = p_run and owner = p_owner and call = p_call)
  then
    insert into sluice.journal (run, owner, call, entry) values (p_run, p_owner, p_call, p_entry);
    if p_limits then
      update sluice.run set most = p_most where run = p_run;
    end if;
    -- Listeners get it before their next heartbeat.
    perform pg_notify('sluice', p_life::text);
  end if;
  return json_build_object('updates', sluice.updates(p_run, p_life, p_seen));
end $$;

-- A sign of life. It need not outlast a crash: a lease that is shorter than meant does no harm.
create function sluice.beat(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_lease_ms bigint, p_batches text[], p_epochs bigint[], p_host text, p_pid int, p_figures jsonb)
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, false);
  v_held text[];
  v_account text;
begin
  if v_refused is not null then
    return v_refused;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  with held as (
    select b.batch
    from unnest(p_batches, p_epochs) as t(batch, epoch)
    join sluice.batch b on b.batch = t.batch and b.epoch = t.epoch
    where b.run = p_run and b.owner = p_owner
    order by b.batch
    for update of b
  ), renewed as (
    update sluice.batch b
    set lease_until = clock_timestamp() + p_lease_ms * interval '1 ms'
    from held where b.run = p_run and b.batch = held.batch
    returning b.batch
  )
  select coalesce(array_agg(batch), '{}') into v_held from renewed;
  insert into sluice.worker (run, worker, host, pid, beat_at, alive_until, figures)
  values (
    p_run, p_owner, p_host, p_pid, clock_timestamp(),
    clock_timestamp() + p_lease_ms * interval '1 ms', p_figures)
  on conflict (run, worker) do update set
    beat_at = excluded.beat_at, alive_until = excluded.alive_until, figures = excluded.figures;
  update sluice.pacing set beat_at = clock_timestamp() where worker = p_owner
  returning account into v_account;
  return json_build_object(
    'held', to_json(v_held),
    'pace', sluice.pace_of(v_account),
    'mayClaim', sluice.is_open(p_run) and exists (
      select from sluice.batch
      where run = p_run and not ended and (owner is null or lease_until <= clock_timestamp())),
    'rowsWritten', (
      select coalesce(max((figures ->> 'rowsWritten')::bigint), 0) from sluice.worker
      where run = p_run and worker <> p_owner and alive_until > clock_timestamp()),
    'updates', sluice.updates(p_run, p_life, p_seen));
end $$;

create function sluice.release(p_run text, p_owner uuid) returns json language plpgsql as $$
begin
  perform sluice.durably();
  with held as (
    select batch from sluice.batch where run = p_run and owner = p_owner order by batch for update
  )
  update sluice.batch b set owner = null, lease_until = null
  from held where b.run = p_run and b.batch = held.batch;
  delete from sluice.worker
  where run = p_run
    and (worker = p_owner or alive_until < clock_timestamp() - interval '1 day');
  delete from sluice.pacing where worker = p_owner;
  return '{}';
end $$;

-- What is left says which run it was, and how it ended: a late process has nothing to claim. The end
-- has a new number, so that none is missed of those that others have seen. Where a restored store has lost
-- the end, all of it is needed again.
create function sluice.clear(p_run text, p_life uuid) returns json language plpgsql as $$
declare
  v_end sluice.journal;
begin
  perform sluice.durably();
  perform from sluice.run where run = p_run and life = p_life for no key update;
  if not found or sluice.is_open(p_run) then
    return '{}';
  end if;
  select * into v_end from sluice.journal
  where run = p_run and batch = 'output' order by seq desc limit 1;
  delete from sluice.journal
  where run = p_run
    and seq <> (select min(seq) from sluice.journal where run = p_run and batch is null);
  if v_end.seq is not null then
    insert into sluice.journal (run, batch, epoch, owner, call, entry)
    values (p_run, v_end.batch, v_end.epoch, v_end.owner, v_end.call, v_end.entry);
  end if;
  delete from sluice.batch where run = p_run and batch <> 'output';
  delete from sluice.budget where run = p_run;
  delete from sluice.recalled where run = p_run;
  delete from sluice.copy where run = p_run;
  update sluice.run set copied = null, copied_of = null where run = p_run;
  delete from sluice.worker where run = p_run and alive_until < clock_timestamp();
  return '{}';
end $$;

create function sluice.iso(p_at timestamptz) returns text language sql as $$
  select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- For readers: of each batch the latest entry, of all else every entry.
create function sluice.status(p_run text) returns json language sql as $$
  select json_build_object(
    'run', r.run,
    'madeAt', sluice.iso(r.made_at),
    'entries', (
      select coalesce(json_agg(entry order by seq), '[]')
      from (
        select distinct on (batch, case when batch is null then seq end) seq, entry
        from sluice.journal where run = p_run
        order by batch, case when batch is null then seq end, seq desc
      ) as latest),
    'workers', (
      select coalesce(json_agg(json_build_object(
        'host', w.host,
        'pid', w.pid,
        'begunAt', sluice.iso(w.begun_at),
        'silentSeconds', round(extract(epoch from clock_timestamp() - w.beat_at)::numeric, 1),
        'isAlive', w.alive_until > clock_timestamp(),
        'batches', (
          select coalesce(json_agg(batch order by batch), '[]') from sluice.batch
          where run = p_run and owner = w.worker and not ended),
        'figures', w.figures) order by w.begun_at, w.worker), '[]')
      from sluice.worker w where w.run = p_run))
  from sluice.run r
  where r.run = p_run and (r.dropped = 0 or exists (select from sluice.journal where run = p_run))
$$;

-- What is left counts the runs of the name: a store that was set back is told from one that has dropped a run.
create function sluice.drop_run(p_run text, p_life uuid) returns json language plpgsql as $$
begin
  perform sluice.durably();
  -- No step of another process is under way.
  perform from sluice.run where run = p_run and life = p_life for update;
  if not found then
    return '{}';
  end if;
  update sluice.run
  set life = gen_random_uuid(), replaced = '{}', made_at = clock_timestamp(), proven = false, most = null,
    copied = null, copied_of = null,
    dropped = dropped + (exists (select from sluice.journal where run = p_run))::int
  where run = p_run;
  delete from sluice.journal where run = p_run;
  delete from sluice.batch where run = p_run;
  delete from sluice.budget where run = p_run;
  delete from sluice.recalled where run = p_run;
  delete from sluice.copy where run = p_run;
  delete from sluice.worker where run = p_run;
  delete from sluice.pacing where run = p_run;
  return '{}';
end $$;
