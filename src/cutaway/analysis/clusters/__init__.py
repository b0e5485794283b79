"""Groups of samples that lie together in latent space, and what distinguishes each of them, in words and figures."""

from cutaway.analysis.clusters.describing import describe_clusters
from cutaway.analysis.clusters.finding import find_clusters
from cutaway.analysis.clusters.tables import cluster_table, membership_table, trait_table
from cutaway.analysis.clusters.values import Clusters
from cutaway.analysis.clusters.words import ClassShare, ClusterWords, Rate, Trait

__all__ = [
    "ClassShare",
    "ClusterWords",
    "Clusters",
    "Rate",
    "Trait",
    "cluster_table",
    "describe_clusters",
    "find_clusters",
    "membership_table",
    "trait_table",
]
