import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import { openPrivateFile } from '../../platform/files/private-files.js';
import { type ServiceContext, openAccountBatch } from './operation.js';
import type { Batch } from '../storage/batch.js';
import { createKeyMaker, keyBytes, KeyTable } from '../storage/key-table.js';
import { type LineBlock, readLineBlocks } from '../storage/line-block.js';
import { openRecords } from '../storage/record-file.js';
import { codeBytes } from '../storage/verdict-file.js';
import type { Variants } from '../variants.js';
import { normalPhone } from '../verification/judge-phone.js';

/** Lines of a batch, with the codes of their verdicts, {@link codeBytes} each. */
export interface VerifiedBlock {
  readonly lines: LineBlock;
  readonly codes: Buffer;
}

/** Addresses of a batch as exported, with the codes of their verdicts. */
export interface ExportedBlock {
  readonly addresses: readonly string[];
  readonly codes: readonly number[];
}

/**
 * Reads verified lines block by block: never the whole batch. The files are open when the first block comes,
 * so that a deletion meanwhile takes nothing away.
 */
export async function* verifiedLines(
  batch: Batch,
  service: ServiceContext,
): AsyncGenerator<VerifiedBlock, void> {
  const files = service.store.files(batch);
  const codes = await openAccountBatch(batch, service, async () =>
    openRecords(files.codes, codeBytes),
  );
  try {
    const addresses = await openAccountBatch(batch, service, async () =>
      openPrivateFile(files.addresses),
    );
    for await (const lines of readLineBlocks(addresses)) {
      yield { lines, codes: await codes.read(lines.count) };
    }
  } finally {
    await codes.close();
  }
}

/** Like {@link verifiedLines}, with addresses in the form of the export. */
export async function* exportedRecords(
  batch: Batch,
  service: ServiceContext,
): AsyncGenerator<ExportedBlock, void> {
  const { store, variants } = service;
  const { type, target_country: country } = batch.parameters;
  const write = exportAddress(variants.exportKeys, type, country);
  const isNew = createRepeatCheck(batch, variants, store.salt);
  for await (const { lines, codes } of verifiedLines(batch, service)) {
    const block: { addresses: string[]; codes: number[] } = { addresses: [], codes: [] };
    for (const [index, address] of lines.texts().entries()) {
      const written = write(address);
      if (!isNew(written)) continue;
      block.addresses.push(written);
      block.codes.push(codes.readUInt16LE(index * codeBytes));
    }
    if (block.addresses.length > 0) yield block;
  }
}

/** Whether an export has every line exactly as submitted. */
export function isAsSubmitted({ parameters }: Batch, variants: Variants): boolean {
  return parameters.remove_duplicate && variants.exportKeys === 'as_submitted';
}

/**
 * An object has no key twice. Addresses are distinct unless duplicates were kept or addresses are rewritten:
 * only then they must be remembered.
 */
function createRepeatCheck(
  batch: Batch,
  variants: Variants,
  salt: string,
): (address: string) => boolean {
  if (isAsSubmitted(batch, variants)) return () => true;
  const keyMaker = createKeyMaker(salt, 'export');
  const seen = new KeyTable();
  const key = new Uint8Array(keyBytes);
  return (address) => {
    keyMaker.write(address, key, 0);
    return seen.add(key, 0);
  };
}

/**
 * The form of an address in an export. "The email addresses or phone numbers that were verified" (spec 2.9)
 * shows no form: by default it is as submitted.
 */
function exportAddress(
  form: Variants['exportKeys'],
  type: VerificationType,
  country: CountryCode,
): (address: string) => string {
  switch (form) {
    case 'as_submitted':
      return (address) => address;
    case 'lower':
      return (address) => address.toLowerCase();
    case 'upper':
      return (address) => address.toUpperCase();
    case 'e164':
    case 'national':
      if (type === 'email') return (address) => address;
      return (address) => {
        const number = normalPhone(address, country);
        if (number === undefined || form === 'e164') return number ?? address;
        return parsePhoneNumberFromString(number)?.formatNational() ?? address;
      };
  }
}
