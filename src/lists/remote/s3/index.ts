// Lists in buckets (`sluice/s3`)
export type { S3Options } from './client.js';
export { s3PartsSink } from './sink.js';
export { removeS3Object } from './source.js';
export { s3Sink } from './sink.js';
export { findS3Objects, s3Source } from './source.js';
