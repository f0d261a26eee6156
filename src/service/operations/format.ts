import { rm } from 'node:fs/promises';
import { operations } from '../../contract/operations.js';
import type { FormatForm } from '../../contract/parameters.js';
import { readLines } from '../content/read-lines.js';
import { readAddress } from '../verification/read-address.js';
import { parseTexts } from '../http/parse-values.js';
import { readForm } from '../http/read-form.js';
import { jsonType, ok } from '../http/reply.js';
import { createSlices } from '../jobs/slices.js';
import type { Handler } from './operation.js';

/**
 * "The lines of a TXT file are brought into one format, for a type and a country" (spec 1); no key is
 * asked for (spec 4, note 5), so the file has a small limit of its own. The fields of the answer are not shown (spec 2.9): ours are `results`, an
 * item for each line with the `input` and its `formatted` form (null when it has none), and the counts
 * `formatted` and `failed`. Emails are written in NFC with their domain in lower case, phones in E.164.
 */
export const format: Handler = async ({ request }, { store, maxFormatBytes }) => {
  const path = store.newArrival();
  let isHandedOver = false;
  try {
    const { fields, trouble } = await readForm(request, {
      path,
      maxFileBytes: maxFormatBytes,
      durable: false,
    });
    const form = parseTexts(operations.format.request.schema, fields);
    if (trouble !== undefined) return ok({ status: 'parse_error', message: trouble });
    isHandedOver = true;
    return { status: 200, contentType: jsonType, body: formatted(path, form) };
  } finally {
    if (!isHandedOver) await rm(path, { force: true });
  }
};

async function* formatted(path: string, form: FormatForm): AsyncGenerator<string, void> {
  const { type, target_country: country } = form;
  const counts = { formatted: 0, failed: 0 };
  const slices = createSlices(new AbortController().signal);
  try {
    yield `{"status":"ok","type":"${type}","target_country":"${country}","results":[`;
    let separator = '';
    for await (const lines of readLines(path)) {
      const items: string[] = [];
      for (const line of lines) {
        const { normalized = null } = readAddress(type, country, line);
        if (normalized === null) counts.failed += 1;
        else counts.formatted += 1;
        items.push(JSON.stringify({ input: line, formatted: normalized }));
        if (slices.isOver()) await slices.pause();
      }
      yield separator + items.join(',');
      separator = ',';
    }
    yield `],"formatted":${counts.formatted},"failed":${counts.failed}}`;
  } finally {
    await rm(path, { force: true });
  }
}
