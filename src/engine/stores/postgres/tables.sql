-- What a schema keeps of runs. Entries are kept as they are written: the functions do not read them, and
-- `json` takes whatever JSON there is.

create table sluice.run (
  run text primary key,
  -- Another one for the same name when it was dropped and begun again.
  life uuid not null default gen_random_uuid(),
  -- Those of the runs of the name that others have taken the place of.
  replaced uuid[] not null default '{}',
  -- How many runs of the name were begun and dropped before it.
  dropped int not null default 0,
  made_at timestamptz not null default clock_timestamp(),
  proven boolean not null default false,
  -- Credits of each type that all launches may come to; null where there is no limit.
  most numeric,
  -- How many parts the copy of its source has, and what it is a copy of; null until it is whole.
  copied int,
  copied_of text
);
-- And the copying of its source, as 'copy', and the last step of the run, as 'output'.
create table sluice.batch (
  run text not null references sluice.run on delete cascade,
  batch text not null,
  type text not null,
  addresses bigint not null,
  epoch bigint not null default 0,
  owner uuid,
  lease_until timestamptz,
  claimed_at timestamptz,
  -- How often its owner fell silent within a minute of the claim.
  losses int not null default 0,
  -- The number that its owner gave to what it wrote down last.
  call bigint not null default 0,
  ended boolean not null default false,
  -- Credits: what its launches that are over have cost, and one for each address of one that may cost less.
  spent bigint not null default 0,
  reserved bigint not null default 0,
  -- Whether that launch was written down: it is driven to its end, whoever has reserved its credits.
  launched boolean not null default false,
  -- Whether a launch with reserved credits was last refused: it counts for new launches alone.
  aside boolean not null default false,
  primary key (run, batch)
);
create index on sluice.batch (run) where not ended;
create sequence sluice.entries;
-- In the order of their writing, and none twice: a store that was restored counts again from an earlier
-- number, and gives others by chance.
create function sluice.next_entry() returns bigint language sql as $$
  select nextval('sluice.entries') * 1000000 + floor(random() * 1000000)::bigint
$$;
create table sluice.journal (
  seq bigint primary key default sluice.next_entry(),
  run text not null references sluice.run on delete cascade,
  batch text,
  epoch bigint,
  owner uuid not null,
  call bigint not null,
  entry json not null,
  at timestamptz not null default clock_timestamp()
);
create index on sluice.journal (run, seq);
create table sluice.results (
  run text not null,
  batch text not null,
  part int not null,
  bytes bytea not null,
  primary key (run, batch, part),
  foreign key (run, batch) references sluice.batch on delete cascade
);
alter table sluice.results alter column bytes set storage external;
-- What of a history the run uses, of each process that has planned it: that of the first entry counts.
create table sluice.recalled (
  run text not null references sluice.run on delete cascade,
  owner uuid not null,
  part int not null,
  bytes bytea not null,
  primary key (run, owner, part)
);
alter table sluice.recalled alter column bytes set storage external;
create table sluice.copy (
  run text not null references sluice.run on delete cascade,
  part int not null,
  -- CRC-32.
  checksum bigint not null,
  bytes bytea not null,
  primary key (run, part)
);
alter table sluice.copy alter column bytes set storage external;
create table sluice.worker (
  run text not null references sluice.run on delete cascade,
  worker uuid not null,
  host text not null,
  pid int not null,
  begun_at timestamptz not null default clock_timestamp(),
  beat_at timestamptz not null,
  -- Silent for longer, it is taken for dead.
  alive_until timestamptz not null,
  figures jsonb not null,
  primary key (run, worker)
);
-- Whose requests a process sends, and from one to the next; 0 where it was given no rate.
create table sluice.pacing (
  worker uuid primary key,
  run text not null references sluice.run on delete cascade,
  account text not null,
  interval_ms float8 not null,
  beat_at timestamptz not null default clock_timestamp()
);
create index on sluice.pacing (account);
-- A fingerprint of the key and the service, of all runs.
create table sluice.pace (
  account text primary key,
  next_at timestamptz,
  paused_until timestamptz
);
-- One row: what the fingerprints of keys are made with.
create table sluice.salt (salt text not null);
insert into sluice.salt values (gen_random_uuid()::text || gen_random_uuid()::text);
-- Credits of all batches of a type, spent or reserved.
create table sluice.budget (
  run text not null references sluice.run on delete cascade,
  type text not null,
  credits bigint not null default 0,
  primary key (run, type)
);
