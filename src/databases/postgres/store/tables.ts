/**
 * What a schema keeps of runs. Entries are kept as they are written: the functions do not read them, and
 * `json` takes whatever JSON there is.
 */
export const tables = `
create table {schema}.run (
  run text primary key,
  -- Another one for the same name when it was dropped and begun again.
  life uuid not null default gen_random_uuid(),
  made_at timestamptz not null default clock_timestamp(),
  proven boolean not null default false
);
-- And the last step of the run, as 'output'.
create table {schema}.batch (
  run text not null references {schema}.run on delete cascade,
  batch text not null,
  type text not null,
  addresses bigint not null,
  epoch bigint not null default 0,
  owner uuid,
  lease_until timestamptz,
  -- The number that its owner gave to what it wrote down last.
  call bigint not null default 0,
  ended boolean not null default false,
  reserved bigint not null default 0,
  primary key (run, batch)
);
create table {schema}.journal (
  seq bigint generated always as identity primary key,
  run text not null references {schema}.run on delete cascade,
  batch text,
  epoch bigint,
  owner uuid not null,
  call bigint not null,
  entry json not null,
  at timestamptz not null default clock_timestamp()
);
create index on {schema}.journal (run, seq);
create table {schema}.results (
  run text not null,
  batch text not null,
  part int not null,
  bytes bytea not null,
  primary key (run, batch, part),
  foreign key (run, batch) references {schema}.batch on delete cascade
);
alter table {schema}.results alter column bytes set storage external;
create table {schema}.worker (
  run text not null references {schema}.run on delete cascade,
  worker uuid not null,
  host text not null,
  beat_at timestamptz not null default clock_timestamp(),
  primary key (run, worker)
);
create table {schema}.budget (
  run text not null references {schema}.run on delete cascade,
  type text not null,
  reserved bigint not null default 0,
  primary key (run, type)
);
`;
