/**
 * From so many addresses on, a list is numbered by partitions. Below, one table of some 20 bytes an
 * address is no burden, and batches are written while the list is read.
 */
export const manyAddresses = 2 ** 22;
