import fc from 'fast-check';

/** Any character but half of a pair. That of fast-check takes a second, and 130 MB for good. */
const anyCharacter = fc
  .nat(0x10_ffff - 0x800)
  .map((at) => String.fromCodePoint(at < 0xd800 ? at : at + 0x800));

/** Texts of any characters of Unicode. */
export function unicodeText(
  lengths: Pick<fc.StringConstraints, 'minLength' | 'maxLength'> = {},
): fc.Arbitrary<string> {
  return fc.string({ ...lengths, unit: anyCharacter });
}
