import type { UploadForm } from './service-model.js';

/** Reads a multipart/form-data body. */
export function readForm(body: Buffer): UploadForm {
  const text = body.toString();
  const boundary = text.slice(0, text.indexOf('\r\n'));
  const fields = new Map<string, string>();
  let file = '';
  for (const part of text.split(boundary).slice(1, -1)) {
    const end = part.indexOf('\r\n\r\n');
    const name = /name="([^"]*)"/.exec(part.slice(0, end))?.[1] ?? '';
    const value = part.slice(end + 4, -2);
    if (name === 'file') file = value;
    else fields.set(name, value);
  }
  return { fields, file };
}
