import type { Command } from './command.js';
import { abandonCommand } from './commands/abandon.js';
import { batchCommand } from './commands/batch/batch.js';
import { checkCommand } from './commands/check.js';
import { createCompletionCommand } from './commands/completion.js';
import { conformanceCommand } from './commands/conformance.js';
import { creditsCommand } from './commands/credits.js';
import { doctorCommand } from './commands/doctor.js';
import { formatCommand } from './commands/format.js';
import { historyCommand } from './commands/history.js';
import { loadStatementCommand } from './commands/load-statement.js';
import { serveCommand } from './commands/serve.js';
import { statusCommand } from './commands/status.js';
import { storeCommand } from './commands/store.js';
import { targetsCommand } from './commands/targets.js';
import { verifyCommand } from './commands/verify.js';

/** Every command of the program, in the order in which its help shows them. */
export const commands: readonly Command[] = [
  verifyCommand,
  serveCommand,
  statusCommand,
  abandonCommand,
  storeCommand,
  historyCommand,
  loadStatementCommand,
  conformanceCommand,
  doctorCommand,
  creditsCommand,
  batchCommand,
  checkCommand,
  formatCommand,
  targetsCommand,
  createCompletionCommand(() => commands),
];
