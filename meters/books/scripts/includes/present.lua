-- Data with another schema version is not changed. A later release can upgrade the data while this
-- service is running (duty D10).
do
  local version = meters['schema'] or '1'
  if last_entry > 0 and version ~= SCHEMA then
    return redis.error_reply('SCHEMA the data is of version ' .. version .. ', not ' .. SCHEMA)
  end
end
