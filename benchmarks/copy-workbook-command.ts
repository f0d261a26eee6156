// The peer as a program: `copy-workbook-command.js <input> <output>`.
import exceljs from 'exceljs';

const [input = '', output = ''] = process.argv.slice(2);
const workbook = new exceljs.stream.xlsx.WorkbookWriter({ filename: output });
const sheet = workbook.addWorksheet('Contacts');
const reader = new exceljs.stream.xlsx.WorkbookReader(input, { sharedStrings: 'cache' });
for await (const copied of reader) {
  for await (const row of copied) sheet.addRow(row.values).commit();
}
await workbook.commit();
