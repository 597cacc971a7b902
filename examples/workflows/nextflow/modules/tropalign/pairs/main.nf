process TROPALIGN_PAIRS {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/tropalign:0.1.0'
        : 'biocontainers/tropalign:0.1.0'}"

    input:
    tuple val(meta), path(queries), path(targets), val(shard)
    val suffix
    val files

    output:
    tuple val(meta), path("*.${suffix}"), emit: alignments, optional: true
    tuple val(meta), path("*.shard"), emit: shard, optional: true
    tuple val(meta), path("*.html"), emit: html, optional: true
    tuple val(meta), path("*.svg"), emit: plot, optional: true
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toMega()}M" : ''
    def output = shard ? "${prefix}.${shard.replace('/', '_of_')}.shard" : "${prefix}.${suffix}"
    // The option for each additional file, and the file's suffix.
    def options = [
        html: ['--html', 'html'],
        plot: ['--plot', 'svg'],
    ]
    def beside = files.collect { name -> "${options[name][0]} ${prefix}.${options[name][1]}" }.join(' ')
    // The suffix of a shard does not name its format.
    def share = shard ? "--shard ${shard} --format ${suffix.tokenize('.')[0]}" : ''
    """
    tropalign \\
        pairs \\
        ${args} \\
        ${share} \\
        --threads ${task.cpus} \\
        ${memory} \\
        ${beside} \\
        --output ${output} \\
        ${queries} \\
        ${targets}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        tropalign: \$(tropalign --version | sed 's/tropalign //')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    def output = shard ? "${prefix}.${shard.replace('/', '_of_')}.shard" : "${prefix}.${suffix}"
    // The option for each additional file, and the file's suffix.
    def options = [
        html: ['--html', 'html'],
        plot: ['--plot', 'svg'],
    ]
    def stubs = (shard ? [] : files).collect { name -> "${prefix}.${options[name][1]}" }.join(' ')
    """
    touch ${output} ${stubs}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        tropalign: \$(tropalign --version | sed 's/tropalign //')
    END_VERSIONS
    """
}
