import { ConfigurationError, RunPapers } from '../../index.js';
import type { CommandInput } from '../command.js';
import { asksNetwork } from '../options/engine-options.js';
import { pathOf, type NamedPlace } from '../endpoints/list-places.js';
import { print } from '../terminal/print.js';
import { resolvePath, standard } from '../endpoints/resolve-path.js';
import type { VerifyOption } from '../options/verify-options.js';

/** @throws ConfigurationError, OutputError before anything is read */
export async function openPapers(
  { options, positionals, cwd, stdout }: CommandInput<VerifyOption>,
  to: NamedPlace,
): Promise<RunPapers> {
  const report = options.text('report');
  const summary = options.text('summary');
  if (report === standard) {
    throw new ConfigurationError('--report needs the name of a file, such as report.html');
  }
  if (summary === standard && to.path === standard) {
    throw new ConfigurationError(
      '--summary - and the output cannot both be standard output: give the output a file with -o',
    );
  }
  return RunPapers.open({
    // A trial writes none, and leaves that of the last night.
    report: options.has('dry-run') ? undefined : report,
    summary: summary === standard ? async (text) => print(text, stdout) : summary,
    besides: filesAmong([
      ...positionals.map((path) => resolvePath(cwd, path)),
      pathOf(to),
      options.text('rejects'),
    ]),
    asksNetwork: asksNetwork(options),
    isShared: options.has('store'),
    keepsQuality: options.has('keep-quality'),
  });
}

/** Those that are files. */
export function filesAmong(paths: readonly (string | undefined)[]): readonly string[] {
  return paths.filter((path): path is string => path !== undefined && path !== standard);
}
