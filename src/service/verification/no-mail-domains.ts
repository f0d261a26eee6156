/**
 * Names that are set aside for other ends than mail: RFC 2606 and RFC 6761 (example, invalid,
 * localhost, test), RFC 6762 (local), RFC 7686 (onion), RFC 8375 (home.arpa), RFC 9476 (alt), and
 * ICANN's resolution of 2024 (internal).
 */
const reserved: ReadonlySet<string> = new Set([
  'alt',
  'example',
  'example.com',
  'example.net',
  'example.org',
  'home.arpa',
  'internal',
  'invalid',
  'local',
  'localhost',
  'onion',
  'test',
]);

/**
 * Whether no mail can reach a domain (ASCII, lower case), as far as that can be known without asking:
 * reserved names, names of one label (ICANN forbids mail at top-level domains), and top-level labels of
 * digits alone (RFC 3696, section 2).
 */
export function cannotHaveMail(domain: string): boolean {
  if (domain.startsWith('[')) return false;
  const lastDot = domain.lastIndexOf('.');
  if (lastDot === -1) return true;
  const topLevel = domain.slice(lastDot + 1);
  if (reserved.has(topLevel) || /^\d+$/.test(topLevel)) return true;
  const secondDot = domain.lastIndexOf('.', lastDot - 1);
  return reserved.has(domain.slice(secondDot + 1));
}
