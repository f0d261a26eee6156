import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { ConfigurationError } from '../../platform/errors/errors.js';

/**
 * Ranges without public exchangers (RFC 6890 and its registries). An exchanger's address comes from outside:
 * one in a private range would make this machine contact its own network.
 */
const closedRanges4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** The only range of global unicast; exceptions follow. */
const openRange6 = '2000::/3';
const closedRanges6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/**
 * Makes a test whether an address may be contacted.
 *
 * @param allowed private ranges that may be contacted, such as `127.0.0.0/8`
 */
export function createPublicAddressTest(allowed: readonly string[]): (address: string) => boolean {
  const always = listOf(allowed);
  const closed = listOf([...closedRanges4, ...closedRanges6]);
  const open6 = listOf([openRange6]);
  return (address) => {
    if (isIPv4(address)) return always.check(address, 'ipv4') || !closed.check(address, 'ipv4');
    if (!isIPv6(address)) return false;
    if (always.check(address, 'ipv6')) return true;
    return open6.check(address, 'ipv6') && !closed.check(address, 'ipv6');
  };
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(range) ?? [];
    const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
    if (family === undefined || Number(bits) > (family === 'ipv4' ? 32 : 128)) {
      throw new ConfigurationError(
        `${JSON.stringify(range)} is not a range of addresses; write one as 10.0.0.0/8`,
      );
    }
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}
