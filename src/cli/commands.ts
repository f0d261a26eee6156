import type { Command } from './command.js';
import { abandonCommand } from './commands/abandon.js';
import { batchCommand } from './commands/batch.js';
import { checkCommand, creditsCommand, formatCommand } from './commands/single-requests.js';
import { createCompletionCommand } from './help/completion.js';
import { conformanceCommand } from './commands/conformance.js';
import { doctorCommand } from './commands/doctor.js';
import { historyCommand } from './commands/history.js';
import { loadStatementCommand, storeCommand } from './commands/sql.js';
import { serveCommand } from './commands/serve.js';
import { statusCommand } from './commands/status.js';
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
