import { expect, it, onTestFinished } from 'vitest';
import { commands, flagNaming } from '../../../src/cli/commands.js';
import { nameOptionsBy, optionName } from '../../../src/platform/text/sentence.js';

it.each([
  [['retryFailed'], '`retryFailed`', '--retry-failed'],
  [['header', false], '`header: false`', '--no-header'],
  [['skipRows', 0], '`skipRows: 0`', '--skip-rows 0'],
  [['onChange', 'carry'], "`onChange: 'carry'`", '--on-change carry'],
  [['prefix', { 'e mail': 'new' }], '`prefix: {"e mail":"new"}`', "--prefix 'e mail=new'"],
  [['source.format'], '`source.format`', '--input-format'],
  [['inputFormat'], '`inputFormat`', '--input-format'],
  [['stateDir'], '`stateDir`', '--state'],
  [['settings.use_global_cache'], '`settings.use_global_cache`', '--no-global-cache'],
  [
    ['settings.remove_wrong_phone_format'],
    '`settings.remove_wrong_phone_format`',
    '--no-remove-wrong-format',
  ],
  [['client'], '`client`', 'SLUICE_BASE_URL and SLUICE_API_KEY'],
  [['maxWaitingRows'], '`maxWaitingRows`', '`maxWaitingRows`'],
] as const)('%j is %s in a program, and %s on the command line', (given, inCode, asFlag) => {
  const [name, value] = given;
  expect(optionName(name, value)).toBe(inCode);
  onTestFinished(nameOptionsBy(flagNaming(commands)));
  expect(optionName(name, value)).toBe(asFlag);
});
