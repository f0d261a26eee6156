import { describe } from 'vitest';
import { describeChanges } from './changes-suite.js';
import type { Database } from './database.js';
import { describeFile } from './file-suite.js';
import { describeTrialWrite } from './trial-write-suite.js';
import { describeServer } from './server-suite.js';
import { describeSource } from './source-suite.js';
import { describeTable } from './table-suite.js';

/** Asks the same of each kind of database. */
export function describeDatabase(database: Database): void {
  const { ending, name, server } = database;
  describe(`a database of ${name}`, () => {
    describeSource(database);
    describeTable(database);
    describeTrialWrite(database);
    describeChanges(database);
    if (server) describeServer(database, server);
    if (ending !== undefined) describeFile(database, ending);
  });
}
