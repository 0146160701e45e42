/** What a Redis server has spent so far; the difference of two is the cost of what lay between. */

/** @returns redisMs of CPU, reads from sockets (round trips) and bytes in and out. */
export async function redisCost(db) {
  const info = await db.info();
  const number = (name) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)[1]);
  return {
    redisMs: (number('used_cpu_user') + number('used_cpu_sys')) * 1000,
    redisReads: number('total_reads_processed'),
    redisBytes: number('total_net_input_bytes') + number('total_net_output_bytes'),
  };
}
