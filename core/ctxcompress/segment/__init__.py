"""Segmentation: splits a text into typed segments with exact offsets."""
