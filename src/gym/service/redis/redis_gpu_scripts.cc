// The scripts of RedisGpuRecords. redis_scripts.h has the keys.
#include "gym/service/redis/redis_scripts.h"

namespace tritonsmith::gym::service::redis_scripts {

const char* const kFirstCalibration = R"(
local gpu, version, calibration = ARGV[1], ARGV[2], ARGV[3]
local known = call('HGET', key('calibrations'), gpu)
local mark = version .. ' '
if known and string.sub(known, 1, #mark) == mark then return string.sub(known, #mark + 1) end
call('HSET', key('calibrations'), gpu, mark .. calibration)
return calibration
)";

const char* const kVindicate = R"(
call('ZREMRANGEBYSCORE', key('judged_on:') .. ARGV[2], '-inf', clock(ARGV[1]) - ARGV[3])
)";

const char* const kQuarantine = R"(
local now, gpu, device, reason = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local count = 0
for _, name in ipairs(call('ZRANGE', key('judged_on:') .. gpu, 0, -1)) do
  local at = call('HMGET', job(name), 'state', 'gpu')
  if at[1] == 'done' and at[2] == gpu then
    call('HSET', job(name), 'state', 'queued', 'worker', '', 'deadline_ms', 0, 'device', device,
         'doubt', gpu .. ': ' .. reason)
    call('ZREM', key('finished'), name)
    enqueue(name)
    count = count + 1
  end
end
call('DEL', key('judged_on:') .. gpu)
if call('HSETNX', key('quarantine'), gpu, ARGV[5]) == 1 then
  call('HSET', key('quarantine_since'), gpu, now)
end
call('HINCRBY', key('quarantine_jobs'), gpu, count)
work_came()
return count
)";

const char* const kClear = R"(
call('HDEL', key('quarantine_since'), ARGV[1])
call('HDEL', key('quarantine_jobs'), ARGV[1])
if ARGV[2] == 'anew' then call('HDEL', key('calibrations'), ARGV[1]) end
work_came()
return call('HDEL', key('quarantine'), ARGV[1])
)";

const char* const kQuarantined = R"(
local reply = {}
for _, gpu in ipairs(call('HKEYS', key('quarantine'))) do
  reply[#reply + 1] = call('HGET', key('quarantine'), gpu)
  reply[#reply + 1] = call('HGET', key('quarantine_since'), gpu) or '0'
  reply[#reply + 1] = call('HGET', key('quarantine_jobs'), gpu) or '0'
end
return reply
)";

}  // namespace tritonsmith::gym::service::redis_scripts
