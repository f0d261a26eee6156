-- What a process asks of one batch. Its token is tested where the row is locked: the process that has the batch by now
-- keeps it to itself until the transaction ends. p_written is the number of the latest call under the claim
-- that the process has had an answer to: where the row has an earlier one, the store was restored.

-- The row of a batch, locked, where the process has the claim.
create function sluice.held(p_run text, p_batch text, p_epoch bigint, p_owner uuid)
returns sluice.batch language sql as $$
  select * from sluice.batch
  where run = p_run and batch = p_batch and epoch = p_epoch and owner = p_owner
  for update
$$;

create function sluice.claim(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_lease_ms bigint, p_batches text[], p_types text[], p_addresses bigint[])
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, false);
  v_proven boolean;
  v_batch text;
  v_epoch bigint;
  v_losses int;
begin
  if v_refused is not null then
    return v_refused;
  end if;
  -- A source is copied before the run is begun.
  if not sluice.is_open(p_run) and (
    p_batches <> '{copy}' or exists (select from sluice.journal where run = p_run)) then
    return json_build_object('proven', false, 'updates', sluice.updates(p_run, p_life, p_seen));
  end if;
  insert into sluice.batch (run, batch, type, addresses)
  select p_run, w.batch, w.type, w.addresses
  from unnest(p_batches, p_types, p_addresses) as w(batch, type, addresses)
  where not exists (select from sluice.batch b where b.run = p_run and b.batch = w.batch)
  order by w.batch
  on conflict do nothing;
  select proven into v_proven from sluice.run where run = p_run;
  -- A process that asks for a batch it already has did not see the answer that gave it.
  select b.batch into v_batch
  from unnest(p_batches) with ordinality as w(batch, place)
  join sluice.batch b on b.run = p_run and b.batch = w.batch
  where not b.ended
    and (b.owner is null or b.owner = p_owner or b.lease_until <= clock_timestamp())
    and (v_proven or w.batch = 'output' or (
      w.place = (
        select min(f.place)
        from unnest(p_batches) with ordinality as f(batch, place)
        join sluice.batch o on o.run = p_run and o.batch = f.batch
        where not o.ended)
      and not exists (
        select from sluice.batch o
        where o.run = p_run and o.batch <> 'output' and not o.ended
          -- A part may go ahead of its batch.
          and split_part(o.batch, '.', 1) <> split_part(b.batch, '.', 1)
          and o.owner is not null and o.lease_until > clock_timestamp())))
  order by w.place
  limit 1
  for update of b skip locked;
  -- A process that lost its claim lived until one lease before the claim's end.
  update sluice.batch
  set owner = null, losses = losses + 1
  where run = p_run and batch = v_batch and batch <> 'output'
    and owner <> p_owner and lease_until <= claimed_at + p_lease_ms * interval '1 ms' + interval '1 minute';
  select losses into v_losses from sluice.batch where run = p_run and batch = v_batch;
  if v_losses >= 5 then
    return json_build_object(
      'breaking', v_batch, 'proven', v_proven, 'updates', sluice.updates(p_run, p_life, p_seen));
  end if;
  if v_batch is not null then
    update sluice.batch
    set epoch = epoch + 1, owner = p_owner, call = 0, claimed_at = clock_timestamp(),
      lease_until = clock_timestamp() + p_lease_ms * interval '1 ms'
    where run = p_run and batch = v_batch
    returning epoch into v_epoch;
  end if;
  return json_build_object(
    'batch', v_batch, 'epoch', v_epoch, 'proven', v_proven, 'server', sluice.server(),
    'heldForMs', case when v_batch is null then (
      select ceil(extract(epoch from max(b.lease_until) - clock_timestamp()) * 1000)
      from sluice.batch b
      where b.run = p_run and b.batch = any(p_batches) and not b.ended and b.owner <> p_owner) end,
    'updates', sluice.updates(p_run, p_life, p_seen));
end $$;

create function sluice.record(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_batch text, p_epoch bigint, p_written bigint, p_call bigint, p_entry json, p_ended boolean,
  p_spent bigint, p_reserved bigint, p_proven boolean)
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, true);
  v_held sluice.batch;
  v_more bigint;
begin
  if v_refused is not null then
    return v_refused;
  end if;
  v_held := sluice.held(p_run, p_batch, p_epoch, p_owner);
  if v_held.batch is null then
    return '{"lost": true}';
  end if;
  if v_held.call < p_written then
    return '{"refused": "restored"}';
  end if;
  -- One that was on its way while its repetition, and what came after it, were written down is too late.
  if v_held.call > p_call then
    return '{"lost": true}';
  end if;
  if v_held.call = p_call then
    return '{}';
  end if;
  insert into sluice.journal (run, batch, epoch, owner, call, entry)
  values (p_run, p_batch, p_epoch, p_owner, p_call, p_entry);
  update sluice.batch
  set call = p_call, ended = p_ended, spent = p_spent, reserved = p_reserved, launched = p_reserved > 0,
    aside = false
  where run = p_run and batch = p_batch;
  if p_batch <> 'output' then
    -- A batch that is sent again makes the run unfinished.
    update sluice.batch set ended = false where run = p_run and batch = 'output' and ended;
  end if;
  v_more := p_spent + p_reserved - v_held.spent - v_held.reserved;
  if v_more <> 0 then
    insert into sluice.budget (run, type, credits) values (p_run, v_held.type, v_more)
    on conflict (run, type) do update set credits = sluice.budget.credits + v_more;
  end if;
  if p_proven then
    update sluice.run set proven = true where run = p_run and not proven;
  end if;
  return '{}';
end $$;

-- A record without updates: it is written as one, so that a server that others have taken the place of
-- cannot say yes.
create function sluice.confirm(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_batch text, p_epoch bigint, p_written bigint, p_lease_ms bigint)
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, false);
  v_call bigint;
begin
  if v_refused is not null then
    return v_refused;
  end if;
  update sluice.batch set lease_until = clock_timestamp() + p_lease_ms * interval '1 ms'
  where run = p_run and batch = p_batch and epoch = p_epoch and owner = p_owner
  returning call into v_call;
  if v_call < p_written then
    return '{"refused": "restored"}';
  end if;
  return json_build_object('lost', v_call is null);
end $$;

create function sluice.reserve(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_batch text, p_epoch bigint, p_written bigint)
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, false);
  v_held sluice.batch;
  v_most numeric;
  v_credits bigint;
begin
  if v_refused is not null then
    return v_refused;
  end if;
  v_held := sluice.held(p_run, p_batch, p_epoch, p_owner);
  if v_held.batch is null then
    return '{"lost": true}';
  end if;
  if v_held.call < p_written then
    return '{"refused": "restored"}';
  end if;
  select most into v_most from sluice.run where run = p_run;
  if v_held.reserved > 0 then
    select credits - (
      select coalesce(sum(reserved), 0) from sluice.batch
      where run = p_run and type = v_held.type and aside and batch <> p_batch)
    into v_credits from sluice.budget where run = p_run and type = v_held.type for update;
    update sluice.batch set aside = coalesce(v_credits > v_most, false)
    where run = p_run and batch = p_batch and aside <> coalesce(v_credits > v_most, false);
    if v_credits > v_most then
      return json_build_object('isGranted', false, 'credits', v_credits, 'most', v_most, 'open', 0);
    end if;
    return json_build_object('isGranted', true, 'credits', v_credits);
  end if;
  insert into sluice.budget (run, type) values (p_run, v_held.type) on conflict do nothing;
  update sluice.budget set credits = credits + v_held.addresses
  where run = p_run and type = v_held.type
    and (v_most is null or credits + v_held.addresses <= v_most)
  returning credits into v_credits;
  if not found then
    return (
      select json_build_object(
        'isGranted', false, 'credits', credits + v_held.addresses, 'most', v_most,
        -- What was not launched by a process that is gone frees nothing before the run is stopped.
        'open', (
          select coalesce(sum(reserved), 0) from sluice.batch
          where run = p_run and type = v_held.type and reserved > 0
            and (launched or lease_until > clock_timestamp())))
      from sluice.budget where run = p_run and type = v_held.type);
  end if;
  update sluice.batch set reserved = addresses where run = p_run and batch = p_batch;
  return json_build_object('isGranted', true, 'credits', v_credits);
end $$;

-- Each block has a number of its own: one that was on its way while its repetition, and what came after it,
-- were written is too late. The last takes the place of all others that were kept before. Nothing is kept
-- of a batch that has ended: its results count.
create function sluice.keep_results(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_batch text, p_epoch bigint, p_written bigint, p_call bigint, p_part int, p_is_last boolean, p_bytes bytea)
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, false);
  v_held sluice.batch;
begin
  if v_refused is not null then
    return v_refused;
  end if;
  v_held := sluice.held(p_run, p_batch, p_epoch, p_owner);
  if v_held.batch is null then
    return '{"lost": true}';
  end if;
  if v_held.call < p_written then
    return '{"refused": "restored"}';
  end if;
  if v_held.ended or v_held.call > p_call then
    return '{"lost": true}';
  end if;
  update sluice.batch set call = p_call where run = p_run and batch = p_batch;
  insert into sluice.results (run, batch, part, bytes) values (p_run, p_batch, p_part, p_bytes)
  on conflict (run, batch, part) do update set bytes = excluded.bytes;
  if p_is_last then
    delete from sluice.results where run = p_run and batch = p_batch and part > p_part;
  end if;
  return '{}';
end $$;

-- A part that is written again is the same: who has the claim reads the source once.
create function sluice.keep_copy(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_batch text, p_epoch bigint, p_written bigint, p_part int, p_checksum bigint, p_bytes bytea)
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, false);
begin
  if v_refused is not null then
    return v_refused;
  end if;
  perform from sluice.batch
  where run = p_run and batch = p_batch and epoch = p_epoch and owner = p_owner and not ended
  for update;
  if not found then
    return '{"lost": true}';
  end if;
  insert into sluice.copy (run, part, checksum, bytes) values (p_run, p_part, p_checksum, p_bytes)
  on conflict (run, part) do update set checksum = excluded.checksum, bytes = excluded.bytes;
  return '{}';
end $$;

-- From now on it is whole. What a copier that died has left behind its end goes.
create function sluice.end_copy(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid,
  p_batch text, p_epoch bigint, p_written bigint, p_parts int, p_of text)
returns json language plpgsql as $$
declare
  v_refused json := sluice.enter(p_run, p_life, p_timeline, p_seen, true);
begin
  if v_refused is not null then
    return v_refused;
  end if;
  update sluice.batch set ended = true
  where run = p_run and batch = p_batch and epoch = p_epoch and owner = p_owner;
  if not found then
    return '{"lost": true}';
  end if;
  delete from sluice.copy where run = p_run and part >= p_parts;
  update sluice.run set copied = p_parts, copied_of = p_of where run = p_run;
  return '{}';
end $$;
