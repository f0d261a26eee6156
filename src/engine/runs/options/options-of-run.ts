import { systemFiles } from '../../../platform/files/file-system.js';
import { readRunState } from '../../stores/directory/state-directory.js';
import type { RunEntry } from '../../stores/journal-entries.js';

/**
 * What decides the rows and batches of the run that a state directory knows, by the option's name.
 *
 * @throws OutputError, StateError
 */
export async function optionsOfRun(stateDir: string): Promise<RunEntry['decides'] | undefined> {
  return (await readRunState(systemFiles, stateDir))?.run?.decides;
}
