// The tests run on a real redis-server. Find it on PATH; else install it with the system's package manager where that
// needs no answer from anybody (root, or sudo without a password); else say exactly what to do.
import { spawnSync } from 'node:child_process';

// RUNLEVEL=1 keeps Debian's package from starting a service on port 6379: the tests start servers of their own.
const managers = [
  {
    name: 'apt-get',
    root: true,
    commands: [
      ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'update'],
      [
        'env',
        'DEBIAN_FRONTEND=noninteractive',
        'RUNLEVEL=1',
        'apt-get',
        'install',
        '-y',
        '--no-install-recommends',
        'redis-server',
      ],
    ],
    manual: 'sudo apt-get update && sudo apt-get install redis-server',
  },
  {
    name: 'apk',
    root: true,
    commands: [['apk', 'add', '--no-cache', 'redis']],
    manual: 'sudo apk add redis',
  },
  {
    name: 'dnf',
    root: true,
    commands: [['dnf', 'install', '-y', 'redis']],
    manual: 'sudo dnf install redis',
  },
  {
    name: 'yum',
    root: true,
    commands: [['yum', 'install', '-y', 'redis']],
    manual: 'sudo yum install redis',
  },
  {
    name: 'pacman',
    root: true,
    commands: [['pacman', '-Sy', '--noconfirm', 'redis']],
    manual: 'sudo pacman -S redis',
  },
  { name: 'brew', root: false, commands: [['brew', 'install', 'redis']], manual: 'brew install redis' },
];

/** @returns whether a redis-server can be started now; when not, the reason has been printed. */
export async function ensureRedis() {
  const version = redisVersion();
  if (version !== null) {
    console.log(`redis-server: ${version}`);
    return true;
  }
  const manager = managers.find(({ name }) => onPath(name));
  if (manager === undefined) return giveUp('no package manager that is known here was found', null);

  const prefix = manager.root ? rootPrefix() : [];
  if (prefix === null) return giveUp(`installing it with ${manager.name} needs root`, manager);

  console.log(`redis-server is not on PATH; installing it with ${manager.name}`);
  let failed = null;
  for (const command of manager.commands) {
    const [file, ...args] = [...prefix, ...command];
    const { status } = spawnSync(file, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0) failed ??= command.join(' ');
  }
  // A failed "update" is harmless when the package could be installed all the same: the result decides.
  if (redisVersion() !== null) return true;
  return giveUp(failed === null ? `${manager.name} installed it elsewhere` : `"${failed}" failed`, manager);
}

function giveUp(reason, manager) {
  console.error(
    [
      '',
      `The tests need redis-server on PATH, and ${reason}.`,
      manager === null
        ? 'Install Redis 7.0 or newer (https://redis.io/docs/install),'
        : `Run:  ${manager.manual}`,
      'then "npm test" again. It need not be running: the tests start and stop servers of their own.',
      '',
      '0 passed, 1 failed',
    ].join('\n'),
  );
  return false;
}

/** What to put before a command to run it as root without a prompt; null when that is not possible. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  const sudo = spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
  return sudo.status === 0 ? ['sudo', '-n'] : null;
}

function redisVersion() {
  const { status, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  return status === 0 ? (/v=(\S+)/.exec(stdout)?.[1] ?? 'found') : null;
}

function onPath(name) {
  return spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0;
}
