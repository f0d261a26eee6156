import { crc32 } from 'node:zlib';

/** Lines as version 1 of the journal had them: one for each entry. */
export function versionOne(values: readonly unknown[]): string {
  return values
    .map((value) => {
      const json = JSON.stringify(value);
      return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
    })
    .join('');
}

export const headOfVersionOne = { journal: 'sluice', version: 1 } as const;
