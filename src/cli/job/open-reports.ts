import { ConfigurationError, RunReports } from '../../index.js';
import type { CommandInput } from '../command.js';
import { pathOf, type Location, resolvePath, standard } from '../endpoints/locations.js';
import { asksNetwork } from '../options/engine-options.js';
import type { VerifyOption } from '../options/verify-options.js';
import { print } from '../terminal/print.js';

/** @throws ConfigurationError, OutputError before anything is read */
export async function openReports(
  { options, positionals, cwd, stdout }: CommandInput<VerifyOption>,
  to: Location,
): Promise<RunReports> {
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
  return RunReports.open({
    // A trial keeps the reports of the last night.
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
    hasHistory: options.has('history') || undefined,
    isRepeated: options.has('key'),
  });
}

/** The paths of files; none of standard input and output. */
export function filesAmong(paths: readonly (string | undefined)[]): readonly string[] {
  return paths.filter((path): path is string => path !== undefined && path !== standard);
}
