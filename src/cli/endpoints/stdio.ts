/** What stands for standard input and standard output. */
export const standard = '-';
