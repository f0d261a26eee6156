import type { Command } from './command.js';
import { abandonCommand } from './commands/abandon.js';
import { conformanceCommand } from './commands/conformance.js';
import { serveCommand } from './commands/serve.js';
import { statusCommand } from './commands/status.js';
import { verifyCommand } from './commands/verify.js';

/** Every command of the program, in the order in which its help shows them. */
export const commands: readonly Command[] = [
  verifyCommand,
  serveCommand,
  statusCommand,
  abandonCommand,
  conformanceCommand,
];
