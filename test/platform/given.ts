/** Some of the options, each with a value: spread over others, they take away none of these. */
export type Given<Options> = {
  readonly [Name in keyof Options]?: Exclude<Options[Name], undefined>;
};
