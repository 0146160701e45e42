/** A client of S3-compatible storage: the optional package `@aws-sdk/client-s3`, made from the AWS_… settings. */
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { SettingsError } from '../../../errors.js';

/** Scrapy's names. */
export interface S3Settings {
  readonly AWS_ACCESS_KEY_ID: string | null;
  readonly AWS_SECRET_ACCESS_KEY: string | null;
  readonly AWS_SESSION_TOKEN: string | null;
  readonly AWS_REGION_NAME: string | null;
  readonly AWS_ENDPOINT_URL: string | null;
  readonly AWS_USE_SSL: boolean;
  readonly AWS_VERIFY: boolean;
}

export type S3ClientConfig = Readonly<Record<string, unknown>>;

/** The part of the package that is used. Its own types are hundreds of files, which each run of the compiler would read. */
interface S3Package {
  readonly S3Client: new (config: S3ClientConfig) => S3['client'];
  readonly DeleteObjectCommand: Command;
  readonly HeadObjectCommand: Command;
  readonly ListObjectsV2Command: Command;
  readonly PutObjectCommand: Command;
}

type Command = new (input: Readonly<Record<string, unknown>>) => object;

/** The client, and the package that makes its commands. */
export interface S3 {
  readonly client: { send(command: object): Promise<unknown>; destroy(): void };
  readonly commands: Omit<S3Package, 'S3Client'>;
}

const PACKAGE = '@aws-sdk/client-s3';
/** The timeout of one call, with the pauses of the package. `RetryingStore` continues after it. */
const ATTEMPTS = 3;
const CONNECTION_TIMEOUT_MS = 5_000;
/** Without any byte. */
const SOCKET_TIMEOUT_MS = 30_000;
/** How long to wait for a server that accepts connections and sends nothing. */
export const SILENCE_MS = ATTEMPTS * SOCKET_TIMEOUT_MS;
const REQUEST_TIMEOUT_MS = 300_000;
/** Storages with an endpoint of their own accept any region. */
const ANY_REGION = 'us-east-1';

/**
 * @param setting that names the bucket, for messages
 * @throws SettingsError without the package, which is not installed with crawlnode
 */
export async function openS3(setting: string, settings: S3Settings, projectDir: string): Promise<S3> {
  const commands = await loadPackage(setting, projectDir);
  return { client: new commands.S3Client(s3Config(settings)), commands };
}

/** The options of the client. Credentials that no setting gives are looked for as every AWS tool does: profiles, roles. */
export function s3Config(settings: S3Settings): S3ClientConfig {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  const { AWS_SESSION_TOKEN: sessionToken, AWS_ENDPOINT_URL: endpoint, AWS_REGION_NAME: region } = settings;
  if ((accessKeyId === null) !== (secretAccessKey === null)) {
    throw new SettingsError(
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together: set both, or none.',
    );
  }
  return {
    ...(accessKeyId !== null && {
      credentials: {
        ...{ accessKeyId, secretAccessKey: secretAccessKey! },
        ...(sessionToken !== null && { sessionToken }),
      },
    }),
    ...(region !== null && { region }),
    ...(endpoint !== null && { endpoint, forcePathStyle: true, region: region ?? ANY_REGION }),
    tls: settings.AWS_USE_SSL,
    maxAttempts: ATTEMPTS,
    followRegionRedirects: true,
    // Some storages other than Amazon's do not support the newer checksums. All support Content-MD5.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpsAgent: { keepAlive: true, rejectUnauthorized: settings.AWS_VERIFY },
    },
  };
}

/** Installed beside crawlnode, or in the project where crawlnode is installed for the whole machine. */
async function loadPackage(setting: string, projectDir: string): Promise<S3Package> {
  const bases = [import.meta.url, pathToFileURL(path.join(projectDir, 'package.json')).href];
  for (const base of bases) {
    let file: string;
    try {
      file = createRequire(base).resolve(PACKAGE);
    } catch {
      continue;
    }
    const loaded = (await import(pathToFileURL(file).href)) as S3Package & { readonly default?: S3Package };
    return loaded.S3Client === undefined ? loaded.default! : loaded;
  }
  throw new SettingsError(
    `${setting} is a bucket, which needs a package that is not installed. In the folder of the project type: npm install ${PACKAGE}`,
  );
}
