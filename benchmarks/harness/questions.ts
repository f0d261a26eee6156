import type { Question } from './question.js';

/** Loads a question by the name of the file that asks it; most of the sources belong to others. */
export const questions: Readonly<Record<string, () => Promise<Question>>> = {
  'end-to-end': async () => (await import('../end-to-end.js')).endToEnd,
  'formats/parquet': async () => (await import('../formats/parquet.js')).parquetFiles,
  'formats/workbook': async () => (await import('../formats/workbook.js')).workbooks,
  suppress: async () => (await import('../suppress.js')).suppress,
  'runs/join': async () => (await import('../runs/join.js')).join,
  'streams/verify': async () => (await import('../streams/verify.js')).verifyDuplex,
  'streams/merge-exports': async () => (await import('../streams/merge-exports.js')).merge,
  'formats/csv-to-batches': async () => (await import('../formats/csv-to-batches.js')).csvToBatches,
  'results/read-export': async () => (await import('../results/read-export.js')).readExport,
  'addresses/address-book': async () => (await import('../addresses/address-book.js')).addressBook,
  'runs/partitions': async () => (await import('../runs/partitions.js')).partitions,
  'databases/postgres': async () => (await import('../databases/postgres.js')).postgres,
  'peak-memory': async () => (await import('../peak-memory.js')).peakMemory,
  'client/upload': async () => (await import('../client/upload.js')).upload,
  'client/pace': async () => (await import('../client/pace.js')).pace,
  'runs/replay': async () => (await import('../runs/replay.js')).replay,
  'runs/shared': async () => (await import('../runs/shared.js')).shared,
  'batches/critical-path': async () => (await import('../batches/critical-path.js')).criticalPath,
  'cli/start': async () => (await import('../cli/start.js')).start,
  'service/asking': async () => (await import('../service/asking.js')).asking,
  'list-sizes': async () => (await import('../list-sizes.js')).listSizes,
};
