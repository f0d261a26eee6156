// What a run does to the rows, without the service: the distinct addresses of a list into a file, and the
// records of an export behind its rows. `join-with-duckdb-command.js <list> <export> <addresses> <output>`.
import { askDuckdb } from './harness/duckdb.js';

const [list = '', exported = '', addresses = '', output = ''] = process.argv.slice(2);
const rows = `read_csv('${list}', header = true, all_varchar = true)`;
await askDuckdb(
  `COPY (SELECT DISTINCT lower(trim(email)) FROM ${rows}) TO '${addresses}' (HEADER false)`,
  `COPY (
     SELECT list.*, record.* EXCLUDE (email)
     FROM ${rows} list
     LEFT JOIN read_json('${exported}', format = 'newline_delimited') record
       ON lower(trim(list.email)) = record.email
   ) TO '${output}' (HEADER true)`,
);
