const table = 'list.csv --email email --country US -o out.csv';

/** Verifies `list.csv` in the present folder, ten addresses a batch, into `out.csv`. */
export const verifyByTens: readonly string[] =
  `verify ${table} --batch-size 10 --poll-interval 10`.split(' ');
