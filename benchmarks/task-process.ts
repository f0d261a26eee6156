// A process for one task: `task-process.js <question> <task> <scale>`.
import { scales } from './harness/question.js';
import { questions } from './harness/questions.js';

const [questionName = '', taskName = '', scaleName = ''] = process.argv.slice(2);
const task = (await questions[questionName]?.())?.tasks[taskName];
const scale = scaleName === 'full' || scaleName === 'quick' ? scales[scaleName] : undefined;
if (!task || !scale) throw new Error(`there is no task ${process.argv.slice(2).join(' ')}`);
const measured = await task.run(scale);
process.send?.(measured, () => process.disconnect());
