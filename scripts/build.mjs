// `npm run build`; npm runs it as `prepare` too, after an install and before packing.
import { build } from './dist.mjs';
import { runScript } from './run-tool.mjs';

await runScript(build);
