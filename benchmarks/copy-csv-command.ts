// The peer as a program: `copy-csv-command.js <input> <output>`.
import { copyCsv } from './peers/copy-csv.js';

const [input = '', output = ''] = process.argv.slice(2);
await copyCsv(input, output);
