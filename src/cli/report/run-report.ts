import {
  ConfigurationError,
  OutputError,
  type FilePermissions,
  type Sink,
  type Summary,
} from '../../index.js';
import { writeOutputFile } from '../../output-files/output-file.js';
import { checkOutputPath, isSameFile } from '../../output-files/output-path.js';
import { standard } from '../summary-file.js';
import { ListFigures } from './list-figures.js';
import { reportPage } from './report-page.js';

/** The page that `--report` asks for: it counts rows on their way, and is written when all is done. */
export class RunReport {
  readonly #path: string;
  #figures: ListFigures | undefined;

  /**
   * @param others files of the same run, whose place the report must not take
   * @throws ConfigurationError, OutputError before anything is read
   */
  static async open(path: string, others: readonly (string | undefined)[]): Promise<RunReport> {
    if (path === standard) {
      throw new ConfigurationError('--report needs the name of a file, such as report.html');
    }
    await checkOutputPath(path);
    for (const other of others) {
      if (other === undefined || other === standard) continue;
      if (!(await isSameFile(path, other))) continue;
      throw new ConfigurationError(
        `--report ${path} is another file of the run: give the report a name of its own`,
      );
    }
    return new RunReport(path);
  }

  private constructor(path: string) {
    this.#path = path;
  }

  /** The same sink, with its rows counted. */
  watch(sink: Sink): Sink {
    return watchSink(sink, (figures) => {
      this.#figures = figures;
    });
  }

  /** Writes the page; it appears whole. @throws OutputError */
  async write(summary: Summary, noMoreOpenThan?: FilePermissions): Promise<void> {
    const page = reportPage({ summary, figures: this.#figures, madeAt: new Date() });
    try {
      await writeOutputFile(this.#path, [Buffer.from(page)], { noMoreOpenThan });
    } catch (cause) {
      throw new OutputError(`the output is written, but not the report ${this.#path}`, { cause });
    }
  }
}

/** The same sink, whose rows are counted on their way into it. */
function watchSink(sink: Sink, onFigures: (figures: ListFigures) => void): Sink {
  const { name, decides, maxRows } = sink;
  return {
    name,
    ...(decides && { decides }),
    ...(maxRows !== undefined && { maxRows }),
    check: async (verifiedColumns) => sink.check(verifiedColumns),
    ...(sink.examine && {
      examine: (reading, columns) => sink.examine?.(reading, columns),
    }),
    ...(sink.rowsLeftOut && { rowsLeftOut: () => sink.rowsLeftOut?.() ?? 0 }),
    ...(sink.leftAlone && { leftAlone: () => sink.leftAlone?.() }),
    mayBeginEarly: async () => (await sink.mayBeginEarly?.()) ?? false,
    async open(opening) {
      const figures = new ListFigures(opening);
      const writing = await sink.open(opening);
      onFigures(figures);
      return {
        async write(rows) {
          figures.add(rows);
          await writing.write(rows);
        },
        finish: async () => writing.finish(),
        abort: async () => writing.abort(),
      };
    },
  };
}
